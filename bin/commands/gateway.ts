import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {
	defaultListenAddress,
	formatListenAddress,
	type ListenAddress,
	parseListenAddress,
} from '../../lib/config/listen-address.js';
import type {LoadedConfig} from '../../lib/config/load-config.js';
import {exposureReason, resolveConfig} from '../../lib/config/resolve-config.js';
import type {Config} from '../../lib/config/schema.js';
import {bufferLimit} from '../../lib/core/buffer-limit.js';
import {type Log, logBug} from '../../lib/core/log.js';
import {admitOwnUser} from '../../lib/gateway/admit-own-user.js';
import type {Replicas} from '../../lib/gateway/cluster/replicas.js';
import {Gateway} from '../../lib/gateway/gateway.js';
import {GatewayRequestHandler} from '../../lib/gateway/request-handler.js';
import {connectionLimitMessage} from '../../lib/http/connection-limiter.js';
import {addressOf, listenHttp, stopListening} from '../../lib/http/server.js';
import {demoServer, viewPage} from '../../lib/run-time-files.js';
import {sweepOrphans} from '../../lib/transports/process/sweep-orphans.js';
import {conversationStarter} from '../../lib/upstream/start-conversation.js';
import {gatewayStages} from '../../pipelines/gateway.js';
import {prefixedStderr} from '../shared/child-stderr.js';
import {type CliContext, defineCommand} from '../shared/cli/command.js';
import {type Options, type OptionValues, parsedFlag} from '../shared/cli/option.js';
import {serversOptions} from '../shared/cli/options.js';
import {reloadOnChange} from '../shared/config-reload.js';
import {parsePortFlag} from '../shared/flag-units.js';
import {usageError} from '../shared/flag-values.js';
import {createLazyRunner} from '../shared/lazy-runner.js';
import {type LocalAccess, localAccess} from '../shared/local-access.js';
import {type Observers, withObservers} from '../shared/observers.js';
import {plural} from '../shared/plural.js';
import {printSnippet} from '../shared/print-snippet.js';
import {applyServerFlags} from '../shared/server-flags.js';
import type {StopSignals} from '../shared/stop-signals.js';
import {startTelemetry} from '../shared/telemetry.js';
import {loadConfigOrPrompt} from '../shared/trusted-config.js';
import {
	addressRemedy,
	clientConfigSnippet,
	gatewayUrl,
	localToken,
	noClientUrlError,
} from './gateway/announce.js';
import {printStartup} from './gateway/banner.js';
import {configureReplicas} from './gateway/replicas.js';

/** The time limit for pending requests when the gateway stops. */
const DRAIN_MS = 10_000;
/** The time in which a replica only reports that it is not ready, before it drains. */
const DRAIN_NOTICE_MS = 5000;
/**
 * Consecutive polls, one second in total, without a forwarded request. Then the other replicas have noticed
 * that its sessions ended.
 */
const QUIET_POLLS = 50;

const options = {
	...serversOptions,
	listen: parsedFlag(
		'ADDR',
		'address to listen on [127.0.0.1:7411]: HOST:PORT or unix:/PATH',
		parseListenFlag,
	),
	port: {
		...parsedFlag('PORT', 'port to listen on, 0 for any free port', parsePortFlag),
		read: (name, input) => {
			if (input.has('listen') && input.has(name))
				throw usageError('--listen and --port exclude each other.', 'Use one of them.');
			return parsePortFlag(name, input.single(name));
		},
	},
} satisfies Options;

type Flags = OptionValues<typeof options>;

export const command = defineCommand({
	summary: 'an HTTP server in front of many MCP servers, each at /mcp/{service}',
	usage: [
		['bridge gateway [--config FILE] [--log FILE] [--debug]'],
		['bridge gateway [--config FILE] --print-client CLIENT', 'prints the configuration of a client'],
	],
	details: `Servers are configured in a file, which is reloaded when it changes. Without a file, there is a demo server. A bridge.yaml
found in the working directory must be trusted first: bridge trust --help. Clients connect over streamable HTTP,
HTTP+SSE (/mcp/{service}/sse) or WebSocket. /mcp combines all servers into one, like bridge hub. /status, /healthz and
/metrics report the state; / is a web page with services and live traffic.`,
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
	exitCodes: '0 stopped by a signal, 2 invalid arguments or configuration, or a port in use',
	unexpectedRemedy: () => 'Servers are set in the configuration: bridge gateway --config FILE',
	run: ({options}, context) => startGateway(options, context),
});

async function startGateway(flags: Flags, context: CliContext): Promise<number> {
	const loaded = await loadConfigOrPrompt(flags.config);
	const config = effectiveConfig(loaded, flags);
	const access = await localAccess(process.env);
	if (flags.printClient) {
		if (config.listen.path !== undefined) throw noClientUrlError(formatListenAddress(config.listen));
		await printSnippet(
			clientConfigSnippet(flags.printClient, config, gatewayUrl(config.listen), localToken(access)),
		);
		return 0;
	}
	const start = {loaded, config, flags, context, access};
	return withObservers(flags, loaded.warnings, observers => serve(start, observers));
}

type GatewayStart = {
	readonly context: CliContext;
	readonly loaded: LoadedConfig;
	readonly config: Config;
	readonly flags: Flags;
	readonly access: LocalAccess;
};

async function serve(start: GatewayStart, observers: Observers): Promise<number> {
	const {loaded, config, flags, access, context} = start;
	const {stop, version} = context;
	const {log} = observers;
	const stopTracing = startTelemetry(log);
	const replicas = await configureReplicas(config, log);
	const gateway = newGateway(config, observers, {
		version,
		page: viewPage,
		replicas,
		userToken: localToken(access),
	});
	bufferLimit.configure({
		limit: () => gateway.config.limits.bufferBytes,
		onEvicted: (bytes, buffers) =>
			log.warn(
				'gateway.buffers_full',
				`Sessions buffered more than ${gateway.config.limits.bufferBytes} bytes for clients that may reconnect. ${buffers} buffers were evicted, the largest first. Raise limits.kept if clients miss events.`,
				{bytes, buffers},
			),
	});
	const {handle, upgrade, openResponses} = new GatewayRequestHandler(gateway);
	const server = await listenHttp({...config.listen, handle, upgrade, ...connectionGuards(gateway, log)});
	printStartup(addressOf(server), gateway.config, {file: loaded.file, access, version}, stop.requested);
	warnIfNoServers(config, loaded, log);
	const watch = reloadOnChange({
		loaded,
		log,
		current: () => gateway.config,
		toEffective: next => effectiveConfig(next, flags),
		async apply(next) {
			const wasEmpty = isEmpty(gateway.config);
			await gateway.reload(next);
			if (!wasEmpty) warnIfNoServers(next, loaded, log);
		},
	});
	const swept = sweepOrphans(log);
	await stop.requested;
	watch.close();
	const {deadline} = await drain(gateway, log, stop);
	stopListening(server);
	await gateway.close(deadline);
	await Promise.race([openResponses.flushed(), deadline]);
	server.closeAllConnections();
	await swept();
	await Promise.race([stopTracing.then(stopNow => stopNow()), deadline]);
	return 0;
}

/** The options that admit connections and log those that fail. */
const connectionGuards = (gateway: Gateway, log: Log) => ({
	admit: admitOwnUser(gateway),
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
	onDropped: (limit: number) => log.warn('http.connections_full', connectionLimitMessage(limit), {limit}),
	onAcceptError: ({message}: Error) =>
		log.warn('http.not_accepted', `A connection could not be accepted: ${message}.`, {reason: message}),
});

/**
 * Stops accepting work. Replicas first give the load balancer time to notice. Resolves to the deadline for
 * closing.
 */
async function drain(
	gateway: Gateway,
	log: Log,
	stop: StopSignals,
): Promise<{readonly deadline: Promise<void>}> {
	const pending = [...gateway.sessions.values()].reduce(
		(sum, {conversation}) => sum + conversation.pendingRequests.count(),
		0,
	);
	const message = `Stopping. Waiting up to ${DRAIN_MS / 1000} s for ${plural(pending, 'pending request')}. Ctrl+C stops at once.`;
	log.info('gateway.draining', pending === 0 ? 'Stopping.' : message, {pending});
	gateway.drain();
	// The load balancer needs time to notice; requests that it still sends are accepted.
	if (gateway.replicas) await timeoutOrForced(DRAIN_NOTICE_MS, stop);
	const deadline = timeoutOrForced(DRAIN_MS, stop);
	if (gateway.replicas) {
		gateway.leave();
		await Promise.race([
			Promise.all([gateway.pendingSettled(), gateway.forwardingSettled(QUIET_POLLS)]),
			deadline,
		]);
	}
	return {deadline};
}

/** Waits for a timeout or a second stop signal. */
const timeoutOrForced = (ms: number, {forced}: StopSignals): Promise<void> =>
	Promise.race([sleep(ms, undefined, {ref: false}), forced]);

function newGateway(
	config: Config,
	{log, trace, createLiveTaps, live, stderr, droppedLines}: Observers,
	fixedOptions: {
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
		...fixedOptions,
		configureReplicas: (next, previous) => configureReplicas(next, log, previous),
		startConversation: conversationStarter({
			stages: gatewayStages,
			log,
			maxBytes,
			trace,
			taps: createLiveTaps,
		}),
		onStderr: prefixedStderr(stderr),
		droppedLogLines: droppedLines,
		createRunner: createLazyRunner,
	});
	return gateway;
}

/** Returns the effective configuration. Flags override the file. Without a file, it has a demo server. */
function effectiveConfig({config, file}: LoadedConfig, flags: Flags): Config {
	const services = file === undefined ? demoServices() : config.services;
	return applyServerFlags({...config, services, listen: listenAddress(config, flags)}, flags);
}

/** Returns the address to listen on. Flags override the file. */
function listenAddress({listen, tokens}: Config, flags: Pick<Flags, 'listen' | 'port'>): ListenAddress {
	const {host} = listen.path === undefined ? listen : defaultListenAddress;
	const address = flags.listen ?? (flags.port === undefined ? listen : {host, port: flags.port});
	const text = exposureReason(address, tokens.length > 0);
	if (text !== undefined) throw usageError(text, '');
	return address;
}

function parseListenFlag(name: string, text: string | undefined): ListenAddress | undefined {
	if (text === undefined) return;
	const address = parseListenAddress(text);
	if (address) return address;
	throw usageError(
		`--${name} ${text} is not valid.`,
		'Write --listen 127.0.0.1:7411, a port alone, or unix:/PATH.',
	);
}

/** Warns about a file without servers, which is probably a mistake. */
function warnIfNoServers(config: Config, {file = ''}: LoadedConfig, log: Log): void {
	if (!isEmpty(config)) return;
	const sentence = `${file} has no servers, so the gateway has no services. Add some under servers. The file is reloaded when it changes.`;
	log.warn('config.empty', sentence, {file});
}

const isEmpty = ({services, packs}: Config): boolean => services.size === 0 && packs === undefined;

function demoServices(): Config['services'] {
	const servers = {demo: {command: process.execPath, args: [fileURLToPath(demoServer)]}};
	return resolveConfig({servers}, process.cwd()).config?.services ?? new Map();
}
