import {writeSync} from 'node:fs';
import {childStderr} from '../lib/child-stderr.js';
import {BridgeError} from '../lib/errors.js';
import {printable} from '../lib/printable.js';
import {knownOf, lossesOf} from '../lib/protocol/features.js';
import {type JsonObject, objectOf} from '../lib/protocol/json.js';
import {identityOf, type Offer, offerOf, type Spoken, survey} from '../lib/protocol/survey.js';
import {
	handshakeVersions,
	MODERN,
	NEWEST_HANDSHAKE,
	spokenBy,
	type Version,
} from '../lib/protocol/version.js';
import type {Endpoint} from '../lib/stage.js';
import {type Child, child} from '../lib/transports/child.js';
import {overUrl} from '../lib/transports/over-url.js';
import {sweepOrphans} from '../lib/transports/sweep.js';
import type {Flags} from './flags.js';
import {observers} from './observers.js';
import {serverName} from './server-name.js';
import type {Stop} from './signals.js';

const TIMEOUT_MS = 60_000;

/** `bridge versions -- COMMAND`, or `--url URL`: what a server speaks, and what each client would lose. */
export async function runVersions(
	server: readonly string[] | undefined,
	flags: Flags,
	stop: Stop,
): Promise<number> {
	if (server && flags.url) throw twoServers();
	const {log, stderr, close} = observers(flags);
	const name = flags.url?.host ?? serverName(server ?? []);
	const children = new Set<Child>();
	const start = (): Endpoint => {
		if (flags.url) return overUrl({name, url: flags.url, log, headers: () => flags.headers});
		const [command = '', ...args] = server ?? [];
		const started = child({name, command, args, env: flags.env, onStderr: childStderr(stderr)});
		children.add(started);
		// A server that cannot be started is told of by whoever asks it something.
		started.exited.catch(() => {});
		return started;
	};
	const timeoutMs = flags.timeoutMs || TIMEOUT_MS;
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

const twoServers = (): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		'There is a --url and a command.',
		'Name one server: --url URL, or -- COMMAND.',
	);

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
	return new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		`${name} speaks no version that bridge knows: ${[...reasons].join('; ')}`,
		'Check that it is an MCP server and starts as it stands.',
	);
};
