import {writeSync} from 'node:fs';
import process from 'node:process';
import {setImmediate as nextTurn, setTimeout as sleep} from 'node:timers/promises';
import {listenText} from '../lib/config/listen.js';
import {Connections} from '../lib/control/connections.js';
import {Destinations} from '../lib/control/destinations.js';
import {type LocalServer, listenLocally} from '../lib/control/listen.js';
import {makeLogRoot} from '../lib/control/log-place.js';
import {Loops} from '../lib/control/loops.js';
import {Ports} from '../lib/control/ports.js';
import {type Rule, targetText} from '../lib/control/rule.js';
import {controlToken} from '../lib/control/token.js';
import type {Controlled} from '../lib/control/tools.js';
import {Answers} from '../lib/http/answers.js';
import {listsOwners} from '../lib/http/local-access.js';
import {type Admit, sameUser} from '../lib/http/peer.js';
import {stopListening} from '../lib/http/server.js';
import {type Log, logBug} from '../lib/log.js';
import {BackgroundLog} from '../lib/store/background-log.js';
import {isoTime, microseconds} from '../lib/store/clock.js';
import {isStdoutNull, ownStdout} from '../lib/transports/own-stdout.js';
import {Valve} from '../lib/valve.js';
import {control} from '../pipelines/control.js';
import {forward} from '../pipelines/raw.js';
import {DEFAULT_FORMAT} from './destination.js';
import type {Flags} from './flags.js';
import {ownLog} from './observers.js';
import {NeedsHelp, readRaw} from './raw-words.js';
import type {Stop} from './signals.js';

export {NeedsHelp};

export type RawContext = {
	/** The module of the thread that logs. */
	readonly worker: URL;
	readonly version: string;
};

/** How long an answer may take to be read, and what was logged to be taken by stdout, when all is to end. */
const ANSWER_MS = 1000;
const STDOUT_MS = 5000;

/** `bridge raw`: ports here that lead elsewhere, with a log of all that passes. */
export async function runRaw(
	words: readonly string[],
	flags: Flags,
	stop: Stop,
	{worker, version}: RawContext,
): Promise<number> {
	const {rules, directory, format} = readRaw(words, flags);
	const {logRoot, mcpPort} = flags;
	const token = mcpPort === undefined ? undefined : controlToken(flags.mcpToken, process.env);
	if (logRoot !== undefined) await makeLogRoot(logRoot);
	const {log, stderr} = ownLog(flags);
	const traffic = trafficLog(flags, log, worker, key => destinations.nameOf(key));
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
	for (const rule of rules) tell(log, rule, (await ports.add(rule)).port);
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

const trafficLog = (flags: Flags, log: Log, worker: URL, nameOf: (key: number) => string): BackgroundLog =>
	new BackgroundLog({
		...{flushMs: flags.flushMs, maxBytes: flags.maxBufferBytes, onFull: flags.onFull, worker},
		stdout: ownStdout(),
		onTrouble: (key, sentence, leftOutLines) =>
			log.error('log-error', sentence, {destination: nameOf(key), leftOutLines}),
		onBug: error => logBug(log, error),
	});

const logPlaces = (traffic: BackgroundLog, log: Log): Destinations =>
	new Destinations({
		...{log: traffic, format: DEFAULT_FORMAT, isStdoutNull: isStdoutNull()},
		onLost: (destination, {lostBytes, leftOutLines}) =>
			log.error('log-error', `The log at ${destination} is not complete.`, {
				...{destination, lostBytes, leftOutLines},
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
		onDropped: limit =>
			log.warn('http.connections_full', `There are ${limit} connections; more are closed.`, {limit}),
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
