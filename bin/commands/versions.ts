import {writeSync} from 'node:fs';
import {childStderr} from '../../lib/child-stderr.js';
import {BridgeError} from '../../lib/errors.js';
import {printable} from '../../lib/printable.js';
import {knownOf, lossesOf} from '../../lib/protocol/features.js';
import {type JsonObject, objectOf} from '../../lib/protocol/json.js';
import {identityOf, type Offer, offerOf, type Spoken, survey} from '../../lib/protocol/survey.js';
import {
	handshakeVersions,
	MODERN,
	NEWEST_HANDSHAKE,
	spokenBy,
	type Version,
} from '../../lib/protocol/version.js';
import type {Endpoint} from '../../lib/stage.js';
import {type Child, child} from '../../lib/transports/child.js';
import {overUrl} from '../../lib/transports/over-url.js';
import {sweepOrphans} from '../../lib/transports/sweep.js';
import {defineCommand} from '../cli/command.js';
import type {Options, Values} from '../cli/option.js';
import {environmentOptions, logOptions, timeout, urlOptions} from '../cli/options.js';
import {observers} from '../common/observers.js';
import {serverEnvironment} from '../common/server-environment.js';
import {serverName} from '../common/server-name.js';
import type {Stop} from '../common/signals.js';
import {invalid, twoServers} from '../common/values.js';

const TIMEOUT_MS = 60_000;

const options = {...urlOptions, ...environmentOptions, ...logOptions, timeout} satisfies Options;

export const command = defineCommand({
	summary: 'what a server speaks, and what each client would lose with it',
	usage: [
		['bridge versions [--timeout SECONDS] [--env NAME=VALUE] [--clean-env] -- COMMAND [ARGS…]'],
		['bridge versions [--timeout SECONDS] --url URL', 'a server behind streamable HTTP'],
	],
	details: `A server is started, or connected to, once for each protocol version, which initialize requests, and once more for its lists.
No tool of it is called. All processes that were started are ended before bridge ends.`,
	options,
	takesServer: true,
	examples: ['bridge versions -- npx -y @modelcontextprotocol/server-everything'],
	exitCodes:
		'0 it speaks a version that bridge knows, 1 it does not or could not be reached, 2 wrong arguments',
	run: ({server, options}, {stop}) => compareVersions(server, options, stop),
});

/** What a server speaks, and what each client would lose. */
async function compareVersions(
	server: readonly string[],
	flags: Values<typeof options>,
	stop: Stop,
): Promise<number> {
	if (server.length === 0 && !flags.url)
		throw invalid('bridge versions has no server.', 'Write: bridge versions -- npx some-server');
	if (server.length > 0 && flags.url) throw twoServers();
	const {log, stderr, close} = observers(flags);
	const name = flags.url?.host ?? serverName(server);
	const children = new Set<Child>();
	const start = (): Endpoint => {
		if (flags.url) return overUrl({name, url: flags.url, log, headers: () => flags.header});
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
		const asked = stop.asked.then(() => undefined);
		const text = await Promise.race([report(name, start, timeoutMs), asked]);
		if (text === undefined) return 1;
		writeSync(1, text);
		return 0;
	} finally {
		for (const one of children) one.kill();
		await swept();
		await close();
	}
}

async function report(name: string, start: () => Endpoint, timeoutMs: number): Promise<string> {
	const spoken = await survey(start, timeoutMs);
	const version = chosen(spoken);
	if (version === undefined) throw unreachable(name, spoken);
	const result =
		(spoken.find(({answered}) => answered === version) ?? spoken.find(one => one.result))?.result ?? {};
	const offer = await offerOf(start(), version, timeoutMs);
	return [
		heading(name, result),
		'',
		...speech(spoken),
		offers(result, offer),
		'',
		...losses(version, result, offer),
		'',
	].join('\n');
}

/** What bridge would speak with it: what it answers when it is asked for the newest handshake, else the modern version. */
function chosen(spoken: readonly Spoken[]): Version | undefined {
	const {answered} = spoken.find(({asked}) => asked === NEWEST_HANDSHAKE) ?? {};
	const best = handshakeVersions.findLast(version => spoken.some(one => one.answered === version));
	const isModern = spoken.some(one => one.answered === MODERN);
	return (
		best ??
		(answered === undefined ? undefined : spokenBy(answered)?.version) ??
		(isModern ? MODERN : undefined)
	);
}

function heading(name: string, result: JsonObject): string {
	const {name: own, version} = identityOf(result);
	return printable(`${name}: ${own ?? 'a server without a name'} ${version ?? ''}`.trimEnd());
}

function speech(spoken: readonly Spoken[]): string[] {
	const isEqual = ({asked, answered}: Spoken): boolean => asked === answered;
	const others = spoken.filter(one => !isEqual(one)).map(other);
	const speaks = spoken.filter(isEqual).map(({asked}) => asked);
	return [row('speaks', speaks.join(', ') || 'no version that bridge knows'), ...others];
}

const other = ({asked, answered, reason}: Spoken): string =>
	row(
		'',
		printable(answered === undefined ? `not ${asked}: ${reason}` : `${answered} when asked for ${asked}`),
	);

function offers(result: JsonObject, offer: Offer): string {
	const capabilities = Object.keys(objectOf(result.capabilities));
	const counts = Object.entries(offer).map(([what, items]) => `${items.length} ${what}`);
	return row('offers', printable(`${counts.join(', ')}; capabilities: ${capabilities.join(', ') || 'none'}`));
}

function losses(version: Version, result: JsonObject, {tools}: Offer): string[] {
	const rows = lossesOf(version, knownOf(result, tools)).flatMap(([client, lost]) =>
		(lost.length === 0 ? ['nothing'] : lost).map((text, at) => row(at === 0 ? client : '', text)),
	);
	return [`Through bridge, which speaks ${version} with it, clients lose or get otherwise:`, ...rows];
}

const row = (name: string, text: string): string => `  ${name.padEnd(11)} ${text}`;

const unreachable = (name: string, spoken: readonly Spoken[]): BridgeError => {
	const reasons = new Set(spoken.map(({reason, answered}) => reason ?? `it answered ${answered}`));
	const [first = ''] = reasons;
	if (reasons.size === 1 && spoken.every(({hasRemedy}) => hasRemedy))
		return new BridgeError('ERR_UPSTREAM_UNREACHABLE', first, '');
	return new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		`${name} speaks no version that bridge knows: ${[...reasons].join('; ').replace(/\.$/, '')}.`,
		'Check that it is an MCP server.',
	);
};
