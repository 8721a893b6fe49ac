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
	summary: 'what a server speaks, and what each client would lose with it',
	usage: [
		['bridge versions [--timeout SECONDS] [--env NAME=VALUE] [--clean-env] -- COMMAND [ARGS…]'],
		['bridge versions [--timeout SECONDS] --url URL', 'a server behind streamable HTTP'],
	],
	details: `A server is started, or connected to, once for each protocol version, which initialize requests, and once more for its lists.
No tool of it is called. All processes that were started are ended before bridge ends.`,
	options,
	takesUpstreamCommand: true,
	examples: ['bridge versions -- npx -y @modelcontextprotocol/server-everything'],
	exitCodes:
		'0 it speaks a version that bridge knows, 1 it does not or could not be reached, 2 wrong arguments',
	run: ({upstreamCommand: server, options}, {stop}) => compareVersions(server, options, stop),
});

/** What a server speaks, and what each client would lose. */
async function compareVersions(
	server: readonly string[],
	flags: OptionValues<typeof options>,
	stop: StopSignals,
): Promise<number> {
	if (server.length === 0 && !flags.url)
		throw usageError('bridge versions has no server.', 'Write: bridge versions -- npx some-server');
	if (server.length > 0 && flags.url) throw twoServersError();
	const {log, stderr, close} = createObservers(flags);
	const name = flags.url?.host ?? serverName(server);
	const children = new Set<Child>();
	const start = (): Endpoint => {
		if (flags.url) return standaloneUpstream({name, url: flags.url, log, headers: () => flags.header});
		const [command = '', ...args] = server;
		const started = child({name, command, args, ...serverEnvironment(flags), onStderr: childStderr(stderr)});
		children.add(started);
		// A server that cannot be started is told of by whoever asks it something.
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
	const spoken = await probeVersions(start, timeoutMs);
	const version = selectVersion(spoken);
	if (version === undefined) throw unreachableError(name, spoken);
	const result =
		(spoken.find(({reported: answered}) => answered === version) ?? spoken.find(one => one.result))?.result ??
		{};
	const offer = await fetchCatalog(start(), version, timeoutMs);
	return [
		heading(name, result),
		'',
		...versionLines(spoken),
		offerLine(result, offer),
		'',
		...lossLines(version, result, offer),
		'',
	].join('\n');
}

/** What bridge would speak with it: what it answers when it is asked for the newest handshake, else the modern version. */
function selectVersion(spoken: readonly VersionProbe[]): Version | undefined {
	const {reported: answered} = spoken.find(({requested: asked}) => asked === NEWEST_HANDSHAKE) ?? {};
	const best = handshakeVersions.findLast(version => spoken.some(one => one.reported === version));
	const isModern = spoken.some(one => one.reported === STATELESS);
	return (
		best ??
		(answered === undefined ? undefined : resolveVersion(answered)?.version) ??
		(isModern ? STATELESS : undefined)
	);
}

function heading(name: string, result: JsonObject): string {
	const {name: own, version} = serverInfoOf(result);
	return printable(`${name}: ${own ?? 'a server without a name'} ${version ?? ''}`.trimEnd());
}

function versionLines(spoken: readonly VersionProbe[]): string[] {
	const isEqual = ({requested: asked, reported: answered}: VersionProbe): boolean => asked === answered;
	const others = spoken.filter(one => !isEqual(one)).map(mismatchLine);
	const speaks = spoken.filter(isEqual).map(({requested: asked}) => asked);
	return [row('speaks', speaks.join(', ') || 'no version that bridge knows'), ...others];
}

const mismatchLine = ({requested: asked, reported: answered, reason}: VersionProbe): string =>
	row(
		'',
		printable(answered === undefined ? `not ${asked}: ${reason}` : `${answered} when asked for ${asked}`),
	);

function offerLine(result: JsonObject, offer: UpstreamCatalog): string {
	const capabilities = Object.keys(objectOf(result.capabilities));
	const counts = Object.entries(offer).map(([what, items]) => `${items.length} ${what}`);
	return row('offers', printable(`${counts.join(', ')}; capabilities: ${capabilities.join(', ') || 'none'}`));
}

function lossLines(version: Version, result: JsonObject, {tools}: UpstreamCatalog): string[] {
	const rows = lossesOf(version, upstreamFeaturesOf(result, tools)).flatMap(([client, lost]) =>
		(lost.length === 0 ? ['nothing'] : lost).map((text, at) => row(at === 0 ? client : '', text)),
	);
	return [`Through bridge, which speaks ${version} with it, clients lose or get otherwise:`, ...rows];
}

const row = (name: string, text: string): string => `  ${name.padEnd(11)} ${text}`;

const unreachableError = (name: string, spoken: readonly VersionProbe[]): BridgeError => {
	const reasons = new Set(spoken.map(({reason, reported: answered}) => reason ?? `it answered ${answered}`));
	const [first = ''] = reasons;
	if (reasons.size === 1 && spoken.every(({hasRemedy}) => hasRemedy))
		return new BridgeError('ERR_UPSTREAM_UNREACHABLE', first, '');
	return new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		`${name} speaks no version that bridge knows: ${[...reasons].join('; ').replace(/\.$/, '')}.`,
		'Check that it is an MCP server.',
	);
};
