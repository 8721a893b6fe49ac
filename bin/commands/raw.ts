import {writeSync} from 'node:fs';
import process from 'node:process';
import {setImmediate as nextTurn, setTimeout as sleep} from 'node:timers/promises';
import {formatListenAddress} from '../../lib/config/listen-address.js';
import {type Log, logBug} from '../../lib/core/log.js';
import {Valve} from '../../lib/core/valve.js';
import {connectionLimitMessage} from '../../lib/http/connection-limiter.js';
import {withListeningProcess} from '../../lib/http/listening-process.js';
import {OpenResponses} from '../../lib/http/open-responses.js';
import {type AdmitRequest, admitSameUser} from '../../lib/http/same-user.js';
import {stopListening} from '../../lib/http/server.js';
import {makeLogRootFolder} from '../../lib/raw/check-log-destination.js';
import {RawConnections} from '../../lib/raw/connections.js';
import {createControlHandler} from '../../lib/raw/control-server.js';
import {readControlToken} from '../../lib/raw/control-token.js';
import type {ControlTargets} from '../../lib/raw/control-tools.js';
import {forwardConnection} from '../../lib/raw/forward-connection.js';
import {type LocalServer, listenLocally} from '../../lib/raw/listen-locally.js';
import {LogDestinations} from '../../lib/raw/log-destinations.js';
import {LoopDetector} from '../../lib/raw/loop-detector.js';
import {type PortRule, ruleTargetText} from '../../lib/raw/port-rule.js';
import {PortRules} from '../../lib/raw/port-rules.js';
import {logWorker} from '../../lib/run-time-files.js';
import {BackgroundLog} from '../../lib/traffic-log/background-log.js';
import {isStdoutNull, openStdout} from '../../lib/transports/stdio/stdout.js';
import {isoTime, nowMicroseconds} from '../../lib/util/clock.js';
import {rawStages} from '../../pipelines/raw.js';
import {type CliContext, defineCommand} from '../shared/cli/command.js';
import {type Options, type OptionValues, parsedFlag, textFlag} from '../shared/cli/option.js';
import {logOptions} from '../shared/cli/options.js';
import {parsePortFlag} from '../shared/flag-units.js';
import {listsSocketOwners} from '../shared/local-access.js';
import {DEFAULT_FILENAME_FORMAT} from '../shared/log-destination.js';
import {createStderrLog} from '../shared/observers.js';
import {parseRawArguments} from './raw/arguments.js';

/** Time limits on shutdown: for clients to read their responses, and for stdout to accept the log. */
const RESPONSE_MS = 1000;
const STDOUT_MS = 5000;

const {logLevel, logFormat, flushMillis, maxBuffer, onFull} = logOptions;

export const rawOptions = {
	mcpPort: parsedFlag(
		'PORT',
		'an MCP server on this port, 0 for any, to change rules and logs while it runs: start-logging,\nstop-logging, add-port-rule, remove-port-rule, shutdown. Its URL is the first line on stdout',
		parsePortFlag,
	),
	mcpToken: textFlag(
		'TOKEN',
		'clients of that server must send Authorization: Bearer TOKEN. Prefer BRIDGE_MCP_TOKEN, which other\nusers cannot see. Without a token, it serves its own user and root on Linux, all users elsewhere',
	),
	logRoot: textFlag('DIR', 'the only folder that start-logging may write to'),
	log: textFlag('FILE', 'logs to one file'),
	filenameFormat: {
		...logOptions.filenameFormat,
		summary: `names of files [${DEFAULT_FILENAME_FORMAT}], in UTC: %Y %m %d %H %M %S; needs @LOG_DIRECTORY`,
	},
	flushMillis,
	maxBuffer,
	onFull,
	logLevel,
	logFormat,
} satisfies Options;

type Flags = OptionValues<typeof rawOptions>;

export const command = defineCommand({
	summary: 'forwards TCP connections and logs every byte as NDJSON (like rawprox.exe)',
	usage: [
		[
			'bridge raw [--mcp-port PORT] [--flush-millis MS] [--filename-format FORMAT] PORT_RULE... [@LOG_DIRECTORY]',
		],
	],
	details: `  PORT_RULE       LOCAL_PORT:TARGET_HOST:TARGET_PORT, any number of them. LOCAL_PORT alone listens on 127.0.0.1; write ADDRESS:LOCAL_PORT for another address, 0 for any free port, and an IPv6 address in brackets: [::1]:8080:[2001:db8::1]:80
  @LOG_DIRECTORY  logs to files there; without it, to stdout

docs/raw.md describes the log format, the tools of the MCP server, and full disks.
bridge decode LOG turns a log back into bytes. TLS is not decrypted.`,
	options: rawOptions,
	maxPositionals: Number.POSITIVE_INFINITY,
	examples: [
		'bridge raw 8080:example.com:80',
		'bridge raw 8080:example.com:80 5433:db.local:5432 @./logs',
		'bridge raw --mcp-port 8765',
		'bridge raw 8080:example.com:80 >/dev/null    forwards without a log',
	],
	exitCodes: '0 stopped by a signal or shutdown, 2 invalid arguments or rules, or a port in use',
	run: ({positionals: words, options}, context) => forwardPorts(words, options, context),
});

async function forwardPorts(
	positionals: readonly string[],
	flags: Flags,
	{stop, version}: CliContext,
): Promise<number> {
	const {rules, directory, format} = parseRawArguments(positionals, flags);
	const {logRoot, mcpPort} = flags;
	const token = mcpPort === undefined ? undefined : readControlToken(flags.mcpToken, process.env);
	if (logRoot !== undefined) await makeLogRootFolder(logRoot);
	const {log, stderr} = createStderrLog(flags);
	const traffic = createTrafficLog(flags, log, key => destinations.nameOf(key));
	const destinations = createLogDestinations(traffic, log);
	const connections = new RawConnections();
	const logReady = new Valve();
	const openLogValve = logReady.shut();
	const ports = createPortRules({connections, traffic, log, logReady});
	const openResponses = new OpenResponses();
	let shutDown = (): void => {};
	const isShutDown = new Promise<void>(resolve => {
		shutDown = resolve;
	});

	// Reports an unusable folder before clients can connect.
	if (directory !== null) await destinations.start(directory, format);
	for (const rule of rules) logListening(log, rule, await listenFor(ports, rule));
	const controlled = {ports, destinations, connections, shutDown, logRoot};
	const server = await startControlServer(controlled, {mcpPort, token, log, openResponses, version});
	if (server) announceEndpoint(server, log);
	if (directory === null) await destinations.start(null);
	openLogValve();
	await Promise.race([stop.requested, isShutDown]);

	ports.close();
	for (const httpServer of server?.servers ?? []) stopListening(httpServer);
	// The response to the shutdown request is written in the next turn of the event loop.
	await nextTurn();
	await Promise.race([openResponses.flushed(), sleep(RESPONSE_MS), stop.forced]);
	for (const httpServer of server?.servers ?? []) httpServer.closeAllConnections();
	await Promise.race([connections.close(), stop.forced]);
	const deadline = Promise.race([sleep(STDOUT_MS), stop.forced.then(() => sleep(RESPONSE_MS))]);
	if (!(await destinations.close(deadline)))
		log.error('log-error', 'The log at STDOUT is incomplete, since stdout was not read in time.');
	await traffic.end();
	await log.flush();
	await stderr.close();
	return 0;
}

const createTrafficLog = (flags: Flags, log: Log, nameOf: (key: number) => string): BackgroundLog =>
	new BackgroundLog({
		flushMs: flags.flushMillis,
		maxBytes: flags.maxBuffer,
		onFull: flags.onFull,
		worker: logWorker,
		stdout: openStdout(),
		onTrouble: (key, sentence, droppedLines) =>
			log.error('log-error', sentence, {destination: nameOf(key), leftOutLines: droppedLines}),
		onBug: error => logBug(log, error),
	});

const createLogDestinations = (traffic: BackgroundLog, log: Log): LogDestinations =>
	new LogDestinations({
		log: traffic,
		format: DEFAULT_FILENAME_FORMAT,
		isStdoutNull: isStdoutNull(),
		onLost: (destination, {lostBytes, leftOutLines}) =>
			log.error('log-error', `The log at ${destination} is incomplete.`, {
				destination,
				lostBytes,
				leftOutLines,
			}),
	});

type ListenerOptions = {
	readonly connections: RawConnections;
	readonly traffic: BackgroundLog;
	readonly log: Log;
	/** Open once logging has started, so that no connection precedes the first line of the log. */
	readonly logReady: Valve;
};

function createPortRules({connections, traffic, log, logReady}: ListenerOptions): PortRules {
	const loops = new LoopDetector();
	return new PortRules({
		accept: (socket, {rule, port}) =>
			logReady.whenOpen(() =>
				// By now, a connection from this process itself is registered, which reveals a loop.
				setImmediate(() => {
					const connection = forwardConnection(socket, {traffic, log, loops, rule, port, stages: rawStages});
					connections.add(connection).catch(error => logBug(log, error));
				}),
			),
		onDropped: (port, limit) =>
			log.warn('raw.connections_full', `Port ${port} has ${limit} connections. New ones are closed.`, {port}),
		onTrouble: (port, {message}) =>
			log.warn('raw.not_accepted', `Port ${port} could not accept a connection: ${message}.`, {port}),
	});
}

const logListening = (log: Log, rule: PortRule, port: number): void => {
	const local = formatListenAddress({host: rule.local.host, port});
	const target = ruleTargetText(rule);
	log.info('raw.listening', `Forwarding connections from ${local} to ${target}.`, {
		local,
		target,
		listen_port: port,
	});
};

type ServerOptions = {
	readonly mcpPort: number | undefined;
	readonly token: string | undefined;
	readonly log: Log;
	readonly openResponses: OpenResponses;
	readonly version: string;
};

/** Listens for a rule of the command line. If the port is in use, the error names the process. */
async function listenFor(ports: PortRules, rule: PortRule): Promise<number> {
	try {
		return (await ports.add(rule)).port;
	} catch (error) {
		throw await withListeningProcess(error);
	}
}

/** Starts the control server if --mcp-port is set. */
async function startControlServer(
	controlled: ControlTargets,
	{mcpPort, token, log, openResponses, version}: ServerOptions,
): Promise<LocalServer | undefined> {
	if (mcpPort === undefined) return;
	return listenLocally({
		port: mcpPort,
		handle: createControlHandler({...controlled, log, responses: openResponses, version, token}),
		admit: admission(token, log),
		onBug: error => logBug(log, error),
		onDropped: limit => log.warn('http.connections_full', connectionLimitMessage(limit), {limit}),
		onAcceptError: ({message}) =>
			log.warn('http.not_accepted', `A connection could not be accepted: ${message}.`, {reason: message}),
	});
}

/**
 * Without a token, the control server accepts only its own user, if the system lists the owners of
 * connections.
 */
function admission(token: string | undefined, log: Log): AdmitRequest | undefined {
	if (token !== undefined) return;
	if (listsSocketOwners)
		return admitSameUser({
			log,
			remedy: 'Connect as the user who runs bridge raw, or start it with --mcp-token and send that token.',
		});
	log.warn(
		'raw.open',
		'All users of this machine can use the control server, since this system does not list connection owners. Set --mcp-token or BRIDGE_MCP_TOKEN.',
	);
	return;
}

/** Prints the endpoint as the first line on stdout, since the parent process waits for it. */
function announceEndpoint({port}: LocalServer, log: Log): void {
	const endpoint = `http://localhost:${port}/mcp`;
	const line = {time: isoTime(nowMicroseconds()), event: 'mcp-ready', endpoint};
	try {
		writeSync(1, `${JSON.stringify(line)}\n`);
	} catch (error) {
		const {message} = error as Error;
		log.warn('raw.not_announced', `Cannot write to stdout: ${message}. The endpoint is ${endpoint}.`);
	}
}
