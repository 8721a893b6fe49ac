import {writeSync} from 'node:fs';
import process from 'node:process';
import {setImmediate as nextTurn, setTimeout as sleep} from 'node:timers/promises';
import {listenText} from '../../lib/config/listen.js';
import {Connections} from '../../lib/control/connections.js';
import {Destinations} from '../../lib/control/destinations.js';
import {type LocalServer, listenLocally} from '../../lib/control/listen.js';
import {makeLogRoot} from '../../lib/control/log-place.js';
import {Loops} from '../../lib/control/loops.js';
import {Ports} from '../../lib/control/ports.js';
import {type Rule, targetText} from '../../lib/control/rule.js';
import {controlToken} from '../../lib/control/token.js';
import type {Controlled} from '../../lib/control/tools.js';
import {Answers} from '../../lib/http/answers.js';
import {connectionsFull} from '../../lib/http/connections.js';
import {listsOwners} from '../../lib/http/local-access.js';
import {type Admit, sameUser} from '../../lib/http/peer.js';
import {withHolder} from '../../lib/http/port-holder.js';
import {stopListening} from '../../lib/http/server.js';
import {type Log, logBug} from '../../lib/log.js';
import {logWorker} from '../../lib/run-time-files.js';
import {BackgroundLog} from '../../lib/store/background-log.js';
import {isoTime, microseconds} from '../../lib/store/clock.js';
import {isStdoutNull, ownStdout} from '../../lib/transports/own-stdout.js';
import {Valve} from '../../lib/valve.js';
import {control} from '../../pipelines/control.js';
import {forward} from '../../pipelines/raw.js';
import {type Context, defineCommand} from '../cli/command.js';
import {type Options, parsed, text, type Values} from '../cli/option.js';
import {logOptions} from '../cli/options.js';
import {DEFAULT_FORMAT} from '../common/destination.js';
import {ownLog} from '../common/observers.js';
import {port} from '../common/units.js';
import {readRaw} from '../raw/words.js';

/** How long an answer may take to be read, and what was logged to be taken by stdout, when all is to end. */
const ANSWER_MS = 1000;
const STDOUT_MS = 5000;

const {logLevel, logFormat, flushMillis, maxBuffer, onFull} = logOptions;

export const options = {
	mcpPort: parsed(
		'PORT',
		'an MCP server on this port, 0 for any, to change rules and logs while it runs: start-logging,\nstop-logging, add-port-rule, remove-port-rule, shutdown. Its URL is the first line on stdout',
		port,
	),
	mcpToken: text(
		'TOKEN',
		'clients of that server must send Authorization: Bearer TOKEN. Prefer BRIDGE_MCP_TOKEN, which other\nusers cannot see. Without a token, it serves its own user and root on Linux, all users elsewhere',
	),
	logRoot: text('DIR', 'the only folder that start-logging may write to'),
	log: text('FILE', 'logs to one file'),
	filenameFormat: {
		...logOptions.filenameFormat,
		summary: `names of files [${DEFAULT_FORMAT}], in UTC: %Y %m %d %H %M %S; needs @LOG_DIRECTORY`,
	},
	flushMillis,
	maxBuffer,
	onFull,
	logLevel,
	logFormat,
} satisfies Options;

type Flags = Values<typeof options>;

export const command = defineCommand({
	summary: 'forwards TCP connections and logs every byte as NDJSON (like rawprox.exe)',
	usage: [
		[
			'bridge raw [--mcp-port PORT] [--flush-millis MS] [--filename-format FORMAT] PORT_RULE... [@LOG_DIRECTORY]',
		],
	],
	details: `  PORT_RULE       LOCAL_PORT:TARGET_HOST:TARGET_PORT, any number of them. LOCAL_PORT alone listens on 127.0.0.1; write ADDRESS:LOCAL_PORT for another address, 0 for any port that is free, and an IPv6 address in brackets: [::1]:8080:[2001:db8::1]:80
  @LOG_DIRECTORY  logs to files there; without it, to stdout

docs/raw.md has the log line by line, the tools of the MCP server, and what happens when a disk is full.
bridge decode LOG turns a log back into bytes. TLS is not decrypted.`,
	options,
	maxWords: Number.POSITIVE_INFINITY,
	examples: [
		'bridge raw 8080:example.com:80',
		'bridge raw 8080:example.com:80 5433:db.local:5432 @./logs',
		'bridge raw --mcp-port 8765',
		'bridge raw 8080:example.com:80 >/dev/null    forwards without a log',
	],
	exitCodes: '0 it was asked to end, 2 wrong arguments or rules, or a port that is taken',
	run: ({words, options}, context) => forwardPorts(words, options, context),
});

/** Ports here that lead elsewhere, with a log of all that passes. */
async function forwardPorts(
	words: readonly string[],
	flags: Flags,
	{stop, version}: Context,
): Promise<number> {
	const {rules, directory, format} = readRaw(words, flags);
	const {logRoot, mcpPort} = flags;
	const token = mcpPort === undefined ? undefined : controlToken(flags.mcpToken, process.env);
	if (logRoot !== undefined) await makeLogRoot(logRoot);
	const {log, stderr} = ownLog(flags);
	const traffic = trafficLog(flags, log, key => destinations.nameOf(key));
	const destinations = logPlaces(traffic, log);
	const connections = new Connections();
	const begun = new Valve();
	const begin = begun.shut();
	const ports = listeners({connections, traffic, log, begun});
	const answers = new Answers();
	let shutDown = (): void => {};
	const isShutDown = new Promise<void>(resolve => {
		shutDown = resolve;
	});

	// A folder that cannot be used is told of before anybody can connect.
	if (directory !== null) await destinations.start(directory, format);
	for (const rule of rules) tell(log, rule, await listenFor(ports, rule));
	const controlled = {ports, destinations, connections, shutDown, logRoot};
	const server = await controlServer(controlled, {mcpPort, token, log, answers, version});
	if (server) announce(server, log);
	if (directory === null) await destinations.start(null);
	begin();
	await Promise.race([stop.asked, isShutDown]);

	ports.close();
	for (const one of server?.servers ?? []) stopListening(one);
	// The answer to whoever asked for the end is about to be written.
	await nextTurn();
	await Promise.race([answers.flushed(), sleep(ANSWER_MS), stop.urged]);
	for (const one of server?.servers ?? []) one.closeAllConnections();
	await Promise.race([connections.close(), stop.urged]);
	const hurry = Promise.race([sleep(STDOUT_MS), stop.urged.then(() => sleep(ANSWER_MS))]);
	if (!(await destinations.close(hurry)))
		log.error('log-error', 'The log at STDOUT is not complete, since nobody has read it in time.');
	await traffic.end();
	await log.flush();
	await stderr.close();
	return 0;
}

const trafficLog = (flags: Flags, log: Log, nameOf: (key: number) => string): BackgroundLog =>
	new BackgroundLog({
		flushMs: flags.flushMillis,
		maxBytes: flags.maxBuffer,
		onFull: flags.onFull,
		worker: logWorker,
		stdout: ownStdout(),
		onTrouble: (key, sentence, leftOutLines) =>
			log.error('log-error', sentence, {destination: nameOf(key), leftOutLines}),
		onBug: error => logBug(log, error),
	});

const logPlaces = (traffic: BackgroundLog, log: Log): Destinations =>
	new Destinations({
		log: traffic,
		format: DEFAULT_FORMAT,
		isStdoutNull: isStdoutNull(),
		onLost: (destination, {lostBytes, leftOutLines}) =>
			log.error('log-error', `The log at ${destination} is not complete.`, {
				destination,
				lostBytes,
				leftOutLines,
			}),
	});

type ListenerOptions = {
	readonly connections: Connections;
	readonly traffic: BackgroundLog;
	readonly log: Log;
	/** Open once there is a log: no connection is older than the line that it begins with. */
	readonly begun: Valve;
};

function listeners({connections, traffic, log, begun}: ListenerOptions): Ports {
	const loops = new Loops();
	return new Ports({
		accept: (socket, {rule, port}) =>
			begun.whenOpen(() =>
				// What connected to this process from within it has been told so by then, which shows a loop.
				setImmediate(() => {
					const connection = forward(socket, {traffic, log, loops, rule, port});
					connections.keep(connection).catch(error => logBug(log, error));
				}),
			),
		onDropped: (port, limit) =>
			log.warn('raw.connections_full', `Port ${port} has ${limit} connections; more are closed.`, {port}),
		onTrouble: (port, {message}) =>
			log.warn('raw.not_accepted', `Port ${port} could not take a connection: ${message}.`, {port}),
	});
}

const tell = (log: Log, rule: Rule, port: number): void => {
	const local = listenText({host: rule.local.host, port});
	const target = targetText(rule);
	log.info('raw.listening', `Connections to ${local} go to ${target}.`, {local, target, listen_port: port});
};

type ServerOptions = {
	readonly mcpPort: number | undefined;
	readonly token: string | undefined;
	readonly log: Log;
	readonly answers: Answers;
	readonly version: string;
};

/** Listens for a rule of the command line. The error of a taken port names the process that has it. */
async function listenFor(ports: Ports, rule: Rule): Promise<number> {
	try {
		return (await ports.add(rule)).port;
	} catch (error) {
		throw await withHolder(error);
	}
}

/** The control server, if there is to be one. */
async function controlServer(
	controlled: Controlled,
	{mcpPort, token, log, answers, version}: ServerOptions,
): Promise<LocalServer | undefined> {
	if (mcpPort === undefined) return;
	return listenLocally({
		port: mcpPort,
		handle: control({...controlled, log, answers, version, token}),
		admit: admission(token, log),
		onBug: error => logBug(log, error),
		onDropped: limit => log.warn('http.connections_full', connectionsFull(limit), {limit}),
		onTrouble: ({message}) =>
			log.warn('http.not_accepted', `A connection could not be taken: ${message}.`, {reason: message}),
	});
}

/** Without a token, the control server is for its own user, where the system lists the owners of connections. */
function admission(token: string | undefined, log: Log): Admit | undefined {
	if (token !== undefined) return;
	if (listsOwners)
		return sameUser({
			log,
			remedy: 'Connect as the user who runs bridge raw, or start it with --mcp-token and send that token.',
		});
	log.warn(
		'raw.open',
		'All users of this machine can use the control server, since this system does not list the owners of connections. Set --mcp-token or BRIDGE_MCP_TOKEN.',
	);
	return;
}

/** Where the control server is stands on stdout before anything else, since whoever started this waits for it. */
function announce({port}: LocalServer, log: Log): void {
	const endpoint = `http://localhost:${port}/mcp`;
	const line = {time: isoTime(microseconds()), event: 'mcp-ready', endpoint};
	try {
		writeSync(1, `${JSON.stringify(line)}\n`);
	} catch (error) {
		const {message} = error as Error;
		log.warn('raw.not_announced', `Stdout cannot be written to: ${message}. The endpoint is ${endpoint}.`);
	}
}
