import {writeSync} from 'node:fs';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {namedStderr} from '../lib/child-stderr.js';
import {type Client, clientSnippet} from '../lib/config/clients.js';
import {listenText} from '../lib/config/listen.js';
import type {Loaded} from '../lib/config/load.js';
import {resolveConfig} from '../lib/config/resolve.js';
import type {Config} from '../lib/config/schema.js';
import {Entrance} from '../lib/gateway/entrance.js';
import {Gateway} from '../lib/gateway/gateway.js';
import {ownUser} from '../lib/gateway/own-user.js';
import {type LocalAccess, localAccess} from '../lib/http/local-access.js';
import {addressOf, listen, stopListening} from '../lib/http/server.js';
import {keptBytes} from '../lib/kept-bytes.js';
import {type Log, logBug} from '../lib/log.js';
import type {Replicas} from '../lib/replicas/replicas.js';
import {startTelemetry} from '../lib/telemetry.js';
import {sweepOrphans} from '../lib/transports/sweep.js';
import {converseThrough} from '../pipelines/gateway.js';
import {followConfig} from './config-changes.js';
import {effective} from './effective.js';
import type {Flags} from './flags.js';
import {type Observers, observed} from './observers.js';
import {replicasOf} from './replicas.js';
import {createRunner} from './runner.js';
import type {Stop} from './signals.js';
import {loadOrAsk} from './trust.js';
import {invalid} from './values.js';
import type {Page} from './view.js';

/** How long what is under way may take when the gateway is asked to end. */
const DRAIN_MS = 10_000;
/** How long one of several replicas goes on as before then, but for saying that it is not ready. */
const NOTICE_MS = 5000;
/** How often it then looks in vain for more from the others, who are told that what it had is over: for a second. */
const QUIET_LOOKS = 50;

/** What it needs to know of bridge itself: a server to show, and which version this is. */
export type Ground = {
	readonly demo: URL;
	readonly version: string;
	readonly page: Page;
};

/** `bridge gateway`: each configured server at `/mcp/{service}`. Without any, a demo server is there to try. */
export async function runGateway(flags: Flags, stop: Stop, {demo, version, page}: Ground): Promise<number> {
	const loaded = await loadOrAsk(flags);
	const config = meaning(loaded, flags, demo);
	const access = await localAccess(process.env);
	if (flags.printClient) {
		if (config.listen.path !== undefined) throw noUrl(listenText(config.listen));
		writeSync(1, snippet(flags.printClient, config, baseOf(config.listen), tokenIn(access)));
		return 0;
	}
	const given = {loaded, config, flags, demo, version, page, access};
	return observed(flags, loaded.warnings, watchers => serve(given, watchers, stop));
}

type Given = Ground & {
	readonly loaded: Loaded;
	readonly config: Config;
	readonly flags: Flags;
	readonly access: LocalAccess;
};

/** The token of this user, where it is needed. */
const tokenIn = (access: LocalAccess): string | undefined =>
	access.by === 'token' ? access.token : undefined;

async function serve(given: Given, watchers: Observers, stop: Stop): Promise<number> {
	const {loaded, config, flags, demo, version, page, access} = given;
	const {log} = watchers;
	const stopTracing = startTelemetry(log);
	const replicas = await replicasOf(config, log);
	const gateway = newGateway(config, watchers, {version, page, replicas, userToken: tokenIn(access)});
	keptBytes.configure({
		limit: () => gateway.config.limits.keptBytes,
		onEvicted: (bytes, buffers) =>
			log.warn(
				'gateway.buffers_full',
				`Sessions kept more than ${gateway.config.limits.keptBytes} bytes for clients that come back (limits.kept). ${buffers} buffers were evicted, the largest first. Raise that limit if clients miss events.`,
				{bytes, buffers},
			),
	});
	const {handle, upgrade, answers} = new Entrance(gateway);
	const server = await listen({
		...{...config.listen, handle, upgrade},
		admit: ownUser(gateway),
		onBug: error => logBug(log, error),
		unread: {
			limits: () => {
				const {unreadBytes, unreadForMs} = gateway.config.limits;
				return {bytes: unreadBytes, forMs: unreadForMs};
			},
			onClosed: (reason, unreadBytes) =>
				log.warn('http.unread', `A connection was closed: ${reason}.`, {reason, unreadBytes}),
		},
		onDropped: limit =>
			log.warn('http.connections_full', `There are ${limit} connections; more are closed.`, {limit}),
		onTrouble: ({message}) =>
			log.warn('http.not_accepted', `A connection could not be taken: ${message}.`, {reason: message}),
	});
	announce(baseOf(addressOf(server)), config, {file: loaded.file, access});
	const watch = followConfig({
		...{loaded, log, current: () => gateway.config},
		meaning: next => meaning(next, flags, demo),
		apply: next => gateway.reload(next),
	});
	const swept = sweepOrphans(log);
	await stop.asked;
	watch.close();
	const {hurry} = await drained(gateway, log, stop);
	stopListening(server);
	await gateway.close(hurry);
	await Promise.race([answers.flushed(), hurry]);
	server.closeAllConnections();
	await swept();
	await Promise.race([stopTracing.then(stopNow => stopNow()), hurry]);
	return 0;
}

/** Takes no more, as gently as there is time for. Resolves to how long the rest of the end may take. */
async function drained(gateway: Gateway, log: Log, stop: Stop): Promise<{readonly hurry: Promise<void>}> {
	log.info('gateway.draining', 'bridge ends; what is under way may still be answered.');
	gateway.drain();
	// A balancer is given the time to notice, and until then nobody it sends here finds the door shut.
	if (gateway.replicas) await within(NOTICE_MS, stop);
	const hurry = within(DRAIN_MS, stop);
	if (gateway.replicas) {
		gateway.leave();
		await Promise.race([Promise.all([gateway.answered(), gateway.unasked(QUIET_LOOKS)]), hurry]);
	}
	return {hurry};
}

/** Waits for so long, unless there is no time to. */
const within = (ms: number, {urged}: Stop): Promise<void> =>
	Promise.race([sleep(ms, undefined, {ref: false}), urged]);

function newGateway(
	config: Config,
	{log, trace, liveTaps, live, stderr, leftOutLines}: Observers,
	known: Pick<Ground, 'version' | 'page'> & {
		readonly replicas: Replicas | undefined;
		readonly userToken: string | undefined;
	},
): Gateway {
	const maxBytes = config.limits.messageBytes;
	const gateway: Gateway = new Gateway({
		...{config, log, live, ...known},
		replicasOf: (next, before) => replicasOf(next, log, before),
		converse: converseThrough({log, maxBytes, trace, taps: liveTaps}),
		onStderr: namedStderr(stderr),
		droppedLogLines: leftOutLines,
		createRunner,
	});
	return gateway;
}

/** What is in force: the file, where flags say nothing else, and the demo where there is no server at all. */
function meaning({config}: Loaded, flags: Flags, demo: URL): Config {
	const services = config.services.size > 0 ? config.services : demoServices(demo);
	return effective({...config, services}, flags);
}

function demoServices(demo: URL): Config['services'] {
	const servers = {demo: {command: process.execPath, args: [fileURLToPath(demo)]}};
	return resolveConfig({servers}, process.cwd()).config?.services ?? new Map();
}

const baseOf = ({host, port}: {readonly host: string; readonly port: number}): URL => {
	const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
	return new URL(`http://${name}:${port}`);
};

/** The entry for the configuration of a client. It contains no configured tokens, only the token of this user. */
function snippet(client: Client, {services, tokens}: Config, base: URL, token: string | undefined): string {
	const own = tokens.length === 0 ? token : undefined;
	const hasToken = tokens.length > 0 || own !== undefined;
	return clientSnippet(client, {base, services: enabled(services), hasToken, token: own});
}

const noUrl = (where: string) =>
	invalid(`${where} has no URL for a client.`, 'Set listen to an address and a port, like 127.0.0.1:7411.');

const enabled = (services: Config['services']): string[] =>
	[...services.values()].filter(one => one.enabled).map(({name}) => name);

type Announced = {readonly file: string | undefined; readonly access: LocalAccess};

/** Tells people where everything is, and how to use it. */
function announce(base: URL, config: Config, {file, access}: Announced): void {
	const {listen, tokens} = config;
	const names = [...config.services.keys()];
	const width = Math.max(...names.map(name => name.length));
	const isSocket = listen.path !== undefined;
	const origin = isSocket ? '' : base.origin;
	const rows = names.map(name => `  ${name.padEnd(width)}  ${origin}/mcp/${name}`);
	const where = file === undefined ? 'without a configuration file: here is a demo' : `as ${file} says`;
	const isTokenNeeded = !isSocket && tokens.length === 0 && access.by === 'token';
	const reach = {base, services: enabled(config.services), hasToken: tokens.length > 0 || isTokenNeeded};
	const text = [
		`bridge gateway listens on ${isSocket ? listenText(listen) : origin}, ${where}.`,
		...rows,
		`  all of them as one: ${origin}/mcp`,
		`  page: ${origin}/`,
		`  status: ${origin}/status`,
		...(isTokenNeeded ? [`  token for X-Bridge-Token: in ${access.file}`] : []),
		'',
		...(isSocket
			? [`curl --unix-socket ${listen.path} http://localhost/status`]
			: (['codex', 'claude'] as const).map(client => clientSnippet(client, reach))),
	].join('\n');
	try {
		writeSync(1, `${text}\n`);
	} catch {
		// Nobody looks.
	}
}
