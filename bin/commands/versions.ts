import {writeSync} from 'node:fs';
import {BridgeError} from '../../lib/core/errors.js';
import type {Endpoint} from '../../lib/core/stage.js';
import {lossesOf, upstreamFeaturesOf} from '../../lib/protocol/features.js';
import {
	handshakeVersions,
	NEWEST_HANDSHAKE,
	resolveVersion,
	STATELESS,
	type Version,
} from '../../lib/protocol/version.js';
import {type Child, child} from '../../lib/transports/process/child.js';
import {sweepOrphans} from '../../lib/transports/process/sweep-orphans.js';
import {
	fetchCatalog,
	probeVersions,
	serverInfoOf,
	type UpstreamCatalog,
	type VersionProbe,
} from '../../lib/upstream/probe-versions.js';
import {standaloneUpstream} from '../../lib/upstream/standalone.js';
import {type JsonObject, objectOf} from '../../lib/util/json.js';
import {printable} from '../../lib/util/printable.js';
import {childStderr} from '../shared/child-stderr.js';
import {defineCommand} from '../shared/cli/command.js';
import type {Options, OptionValues} from '../shared/cli/option.js';
import {environmentOptions, logOptions, timeoutFlag, urlOptions} from '../shared/cli/options.js';
import {twoServersError, usageError} from '../shared/flag-values.js';
import {createObservers} from '../shared/observers.js';
import {serverEnvironment} from '../shared/server-environment.js';
import {serverName} from '../shared/server-name.js';
import type {StopSignals} from '../shared/stop-signals.js';

const TIMEOUT_MS = 60_000;

const options = {...urlOptions, ...environmentOptions, ...logOptions, timeout: timeoutFlag} satisfies Options;

export const command = defineCommand({
	summary: 'reports the protocol versions of a server, and what each client would lose',
	usage: [
		['bridge versions [--timeout SECONDS] [--env NAME=VALUE] [--clean-env] -- COMMAND [ARGS…]'],
		['bridge versions [--timeout SECONDS] --url URL', 'a server behind streamable HTTP'],
	],
	details: `The server is started or connected to once for each protocol version, and once more for its lists. No tools are called.
All started processes are stopped before bridge exits.`,
	options,
	takesUpstreamCommand: true,
	examples: ['bridge versions -- npx -y @modelcontextprotocol/server-everything'],
	exitCodes:
		'0 the server supports a version that bridge knows, 1 it does not or is unreachable, 2 invalid arguments',
	run: ({upstreamCommand: server, options}, {stop}) => compareVersions(server, options, stop),
});

/** Reports the versions and features of a server, and what each client would lose. */
async function compareVersions(
	server: readonly string[],
	flags: OptionValues<typeof options>,
	stop: StopSignals,
): Promise<number> {
	if (server.length === 0 && !flags.url)
		throw usageError('bridge versions needs a server.', 'Write: bridge versions -- npx some-server');
	if (server.length > 0 && flags.url) throw twoServersError();
	const {log, stderr, close} = createObservers(flags);
	const name = flags.url?.host ?? serverName(server);
	const children = new Set<Child>();
	const start = (): Endpoint => {
		if (flags.url) return standaloneUpstream({name, url: flags.url, log, headers: () => flags.header});
		const [command = '', ...args] = server;
		const started = child({name, command, args, ...serverEnvironment(flags), onStderr: childStderr(stderr)});
		children.add(started);
		// Prevents an unhandled rejection. The probes report a server that cannot be started.
		started.exited.catch(() => {});
		return started;
	};
	const timeoutMs = flags.timeout || TIMEOUT_MS;
	const swept = sweepOrphans(log);
	try {
		const stopRequested = stop.requested.then(() => undefined);
		const text = await Promise.race([versionReport(name, start, timeoutMs), stopRequested]);
		if (text === undefined) return 1;
		writeSync(1, text);
		return 0;
	} finally {
		for (const one of children) one.kill();
		await swept();
		await close();
	}
}

async function versionReport(name: string, start: () => Endpoint, timeoutMs: number): Promise<string> {
	const probes = await probeVersions(start, timeoutMs);
	const version = selectVersion(probes);
	if (version === undefined) throw unreachableError(name, probes);
	const result =
		(probes.find(({reported}) => reported === version) ?? probes.find(probe => probe.result))?.result ?? {};
	const catalog = await fetchCatalog(start(), version, timeoutMs);
	return [
		heading(name, result),
		'',
		...versionLines(probes),
		catalogLine(result, catalog),
		'',
		...lossLines(version, result, catalog),
		'',
	].join('\n');
}

/**
 * Selects the version that bridge would use: the newest handshake version that works, else the stateless one.
 */
function selectVersion(probes: readonly VersionProbe[]): Version | undefined {
	const {reported} = probes.find(({requested}) => requested === NEWEST_HANDSHAKE) ?? {};
	const best = handshakeVersions.findLast(version => probes.some(probe => probe.reported === version));
	const isStateless = probes.some(probe => probe.reported === STATELESS);
	return (
		best ??
		(reported === undefined ? undefined : resolveVersion(reported)?.version) ??
		(isStateless ? STATELESS : undefined)
	);
}

function heading(name: string, result: JsonObject): string {
	const {name: serverName, version} = serverInfoOf(result);
	return printable(`${name}: ${serverName ?? 'unnamed server'} ${version ?? ''}`.trimEnd());
}

function versionLines(probes: readonly VersionProbe[]): string[] {
	const isEqual = ({requested, reported}: VersionProbe): boolean => requested === reported;
	const others = probes.filter(probe => !isEqual(probe)).map(mismatchLine);
	const supported = probes.filter(isEqual).map(({requested}) => requested);
	return [row('speaks', supported.join(', ') || 'no version that bridge knows'), ...others];
}

const mismatchLine = ({requested, reported, reason}: VersionProbe): string =>
	row(
		'',
		printable(
			reported === undefined ? `not ${requested}: ${reason}` : `${reported} when ${requested} is requested`,
		),
	);

function catalogLine(result: JsonObject, catalog: UpstreamCatalog): string {
	const capabilities = Object.keys(objectOf(result.capabilities));
	const counts = Object.entries(catalog).map(([kind, items]) => `${items.length} ${kind}`);
	return row('offers', printable(`${counts.join(', ')}; capabilities: ${capabilities.join(', ') || 'none'}`));
}

function lossLines(version: Version, result: JsonObject, {tools}: UpstreamCatalog): string[] {
	const rows = lossesOf(version, upstreamFeaturesOf(result, tools)).flatMap(([client, lost]) =>
		(lost.length === 0 ? ['nothing'] : lost).map((text, at) => row(at === 0 ? client : '', text)),
	);
	return [`Through bridge, which speaks ${version} with it, clients lose or get otherwise:`, ...rows];
}

const row = (name: string, text: string): string => `  ${name.padEnd(11)} ${text}`;

const unreachableError = (name: string, probes: readonly VersionProbe[]): BridgeError => {
	const reasons = new Set(probes.map(({reason, reported}) => reason ?? `it replied with ${reported}`));
	const [first = ''] = reasons;
	if (reasons.size === 1 && probes.every(({hasRemedy}) => hasRemedy))
		return new BridgeError('ERR_UPSTREAM_UNREACHABLE', first, '');
	return new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		`${name} supports no protocol version that bridge knows: ${[...reasons].join('; ').replace(/\.$/, '')}.`,
		'Check that it is an MCP server.',
	);
};
