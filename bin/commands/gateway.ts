import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {namedStderr} from '../../lib/child-stderr.js';
import {defaultListen, type Listen, listenOf, listenText} from '../../lib/config/listen.js';
import type {Loaded} from '../../lib/config/load.js';
import {exposure, resolveConfig} from '../../lib/config/resolve.js';
import type {Config} from '../../lib/config/schema.js';
import {Entrance} from '../../lib/gateway/entrance.js';
import {Gateway} from '../../lib/gateway/gateway.js';
import {ownUser} from '../../lib/gateway/own-user.js';
import {connectionsFull} from '../../lib/http/connections.js';
import {type LocalAccess, localAccess} from '../../lib/http/local-access.js';
import {addressOf, listen, stopListening} from '../../lib/http/server.js';
import {keptBytes} from '../../lib/kept-bytes.js';
import {type Log, logBug} from '../../lib/log.js';
import {plural} from '../../lib/plural.js';
import type {Replicas} from '../../lib/replicas/replicas.js';
import {demoServer, viewPage} from '../../lib/run-time-files.js';
import {startTelemetry} from '../../lib/telemetry.js';
import {sweepOrphans} from '../../lib/transports/sweep.js';
import {converseThrough} from '../../pipelines/gateway.js';
import {type Context, defineCommand} from '../cli/command.js';
import {type Options, parsed, type Values} from '../cli/option.js';
import {serversOptions} from '../cli/options.js';
import {followConfig} from '../common/config-changes.js';
import {effective} from '../common/effective.js';
import {type Observers, observed} from '../common/observers.js';
import {printSnippet} from '../common/print-snippet.js';
import {replicasOf} from '../common/replicas.js';
import {createRunner} from '../common/runner.js';
import type {Stop} from '../common/signals.js';
import {loadOrPrompt} from '../common/trusted-config.js';
import {port} from '../common/units.js';
import {invalid} from '../common/values.js';
import {addressRemedy, baseOf, noUrl, snippet, tokenIn} from '../gateway/announce.js';
import {showStart} from '../gateway/banner.js';

/** How long what is under way may take when the gateway is asked to end. */
const DRAIN_MS = 10_000;
/** How long one of several replicas goes on as before then, but for saying that it is not ready. */
const NOTICE_MS = 5000;
/** Polls without a forwarded request before it closes: a second. The other replicas know by then that its sessions have ended. */
const QUIET_LOOKS = 50;

const options = {
	...serversOptions,
	listen: parsed('ADDR', 'address to listen on [127.0.0.1:7411]: HOST:PORT or unix:/PATH', listenFlag),
	port: {
		...parsed('PORT', 'port to listen on, 0 for any that is free', port),
		read: (name, given) => {
			if (given.isGiven('listen') && given.isGiven(name))
				throw invalid('--listen and --port exclude each other.', 'Give one of them.');
			return port(name, given.one(name));
		},
	},
} satisfies Options;

type Flags = Values<typeof options>;

export const command = defineCommand({
	summary: 'an HTTP server in front of many MCP servers, each at /mcp/{service}',
	usage: [
		['bridge gateway [--config FILE] [--log FILE] [--debug]'],
		['bridge gateway [--config FILE] --print-client CLIENT', "what to write into a client's configuration"],
	],
	details: `Servers are named in the configuration, which is read again when it changes; without a file, there is a demo. A bridge.yaml
found in the working directory has to be trusted first: bridge trust --help. Clients connect over streamable HTTP,
HTTP+SSE (/mcp/{service}/sse) or WebSocket. /mcp is all servers as one, as bridge hub has them. /status, /healthz and
/metrics show the state; / is a page of services and live traffic, for a browser.`,
	options,
	examples: [
		`bridge gateway --config bridge.yaml

# bridge.yaml
listen: 127.0.0.1:7411
servers:
  memory:
    command: npx
    args: ["-y", "@modelcontextprotocol/server-memory"]
  remote:
    url: https://example.com/mcp`,
	],
	exitCodes: '0 it was asked to end, 2 wrong arguments or configuration, or a port that is taken',
	unexpected: () => 'Servers are named in the configuration: bridge gateway --config FILE',
	run: ({options}, context) => startGateway(options, context),
});

async function startGateway(flags: Flags, context: Context): Promise<number> {
	const loaded = await loadOrPrompt(flags.config);
	const config = meaning(loaded, flags);
	const access = await localAccess(process.env);
	if (flags.printClient) {
		if (config.listen.path !== undefined) throw noUrl(listenText(config.listen));
		await printSnippet(snippet(flags.printClient, config, baseOf(config.listen), tokenIn(access)));
		return 0;
	}
	const given = {loaded, config, flags, context, access};
	return observed(flags, loaded.warnings, watchers => serve(given, watchers));
}

type Given = {
	readonly context: Context;
	readonly loaded: Loaded;
	readonly config: Config;
	readonly flags: Flags;
	readonly access: LocalAccess;
};

async function serve(given: Given, watchers: Observers): Promise<number> {
	const {loaded, config, flags, access, context} = given;
	const {stop, version} = context;
	const {log} = watchers;
	const stopTracing = startTelemetry(log);
	const replicas = await replicasOf(config, log);
	const gateway = newGateway(config, watchers, {
		version,
		page: viewPage,
		replicas,
		userToken: tokenIn(access),
	});
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
	const server = await listen({...config.listen, handle, upgrade, ...guards(gateway, log)});
	showStart(addressOf(server), gateway.config, {file: loaded.file, access, version}, stop.asked);
	warnOfNone(config, loaded, log);
	const watch = followConfig({
		loaded,
		log,
		current: () => gateway.config,
		meaning: next => meaning(next, flags),
		async apply(next) {
			const wasEmpty = isEmpty(gateway.config);
			await gateway.reload(next);
			if (!wasEmpty) warnOfNone(next, loaded, log);
		},
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

/** Who may connect, and what is logged of connections that end badly. */
const guards = (gateway: Gateway, log: Log) => ({
	admit: ownUser(gateway),
	havePrincipals: true,
	addressRemedy,
	onBug: (error: unknown) => logBug(log, error),
	unread: {
		limits: () => {
			const {unreadBytes, unreadForMs} = gateway.config.limits;
			return {bytes: unreadBytes, forMs: unreadForMs};
		},
		onClosed: (reason: string, unreadBytes: number) =>
			log.warn('http.unread', `A connection was closed: ${reason}.`, {reason, unreadBytes}),
	},
	onDropped: (limit: number) => log.warn('http.connections_full', connectionsFull(limit), {limit}),
	onTrouble: ({message}: Error) =>
		log.warn('http.not_accepted', `A connection could not be accepted: ${message}.`, {reason: message}),
});

/** Takes no more, as gently as there is time for. Resolves to how long the rest of the end may take. */
async function drained(gateway: Gateway, log: Log, stop: Stop): Promise<{readonly hurry: Promise<void>}> {
	const pending = [...gateway.sessions.values()].reduce(
		(sum, {conversation}) => sum + conversation.waiting.count(),
		0,
	);
	const waits = `Stopping. Waiting up to ${DRAIN_MS / 1000} s for ${plural(pending, 'pending request')}. Ctrl+C stops at once.`;
	log.info('gateway.draining', pending === 0 ? 'Stopping.' : waits, {pending});
	gateway.drain();
	// The load balancer needs time to notice; requests that it still sends are accepted.
	if (gateway.replicas) await within(NOTICE_MS, stop);
	const hurry = within(DRAIN_MS, stop);
	if (gateway.replicas) {
		gateway.leave();
		await Promise.race([Promise.all([gateway.answered(), gateway.unasked(QUIET_LOOKS)]), hurry]);
	}
	return {hurry};
}

/** Waits this long, or until a second signal. */
const within = (ms: number, {urged}: Stop): Promise<void> =>
	Promise.race([sleep(ms, undefined, {ref: false}), urged]);

function newGateway(
	config: Config,
	{log, trace, liveTaps, live, stderr, leftOutLines}: Observers,
	known: {
		readonly version: string;
		readonly page: typeof viewPage;
		readonly replicas: Replicas | undefined;
		readonly userToken: string | undefined;
	},
): Gateway {
	const maxBytes = config.limits.messageBytes;
	const gateway: Gateway = new Gateway({
		config,
		log,
		live,
		...known,
		replicasOf: (next, before) => replicasOf(next, log, before),
		converse: converseThrough({log, maxBytes, trace, taps: liveTaps}),
		onStderr: namedStderr(stderr),
		droppedLogLines: leftOutLines,
		createRunner,
	});
	return gateway;
}

/** The configuration in force: flags go before the file; without a file, the demo. */
function meaning({config, file}: Loaded, flags: Flags): Config {
	const services = file === undefined ? demoServices() : config.services;
	return effective({...config, services, listen: listenIn(config, flags)}, flags);
}

/** Where to listen: flags go before the file. */
function listenIn({listen, tokens}: Config, flags: Pick<Flags, 'listen' | 'port'>): Listen {
	const {host} = listen.path === undefined ? listen : defaultListen;
	const wanted = flags.listen ?? (flags.port === undefined ? listen : {host, port: flags.port});
	const text = exposure(wanted, tokens.length > 0);
	if (text !== undefined) throw invalid(text, '');
	return wanted;
}

function listenFlag(name: string, text: string | undefined): Listen | undefined {
	if (text === undefined) return;
	const found = listenOf(text);
	if (found) return found;
	throw invalid(
		`--${name} ${text} cannot be read.`,
		'Write --listen 127.0.0.1:7411, a port alone, or unix:/PATH.',
	);
}

/** A file without servers is most likely not what is meant. */
function warnOfNone(config: Config, {file = ''}: Loaded, log: Log): void {
	if (!isEmpty(config)) return;
	const sentence = `${file} has no servers, so the gateway has no services. Add some under servers; the file is read again when it changes.`;
	log.warn('config.empty', sentence, {file});
}

const isEmpty = ({services, packs}: Config): boolean => services.size === 0 && packs === undefined;

function demoServices(): Config['services'] {
	const servers = {demo: {command: process.execPath, args: [fileURLToPath(demoServer)]}};
	return resolveConfig({servers}, process.cwd()).config?.services ?? new Map();
}
