import {setTimeout as sleep} from 'node:timers/promises';
import {listenText} from '../lib/config/listen.js';
import {Connections} from '../lib/control/connections.js';
import {Destinations} from '../lib/control/destinations.js';
import {Ports} from '../lib/control/ports.js';
import {type Rule, targetText} from '../lib/control/rule.js';
import {type Log, logBug} from '../lib/log.js';
import {BackgroundLog} from '../lib/store/background-log.js';
import {isStdoutNull, ownStdout} from '../lib/transports/own-stdout.js';
import {forward} from '../pipelines/raw.js';
import {DEFAULT_FORMAT} from './destination.js';
import type {Flags} from './flags.js';
import {ownLog} from './observers.js';
import {NeedsHelp, readRaw} from './raw-words.js';
import type {Stop} from './signals.js';

export {NeedsHelp};

/** How long what was logged may take to be read from stdout when all is to end. */
const PATIENCE_MS = 5000;

/** `bridge raw`: ports here that lead elsewhere, with a log of all that passes. */
export async function runRaw(
	words: readonly string[],
	flags: Flags,
	stop: Stop,
	worker: URL,
): Promise<number> {
	const {rules, directory, format} = readRaw(words, flags);
	const {log, stderr} = ownLog(flags);
	const traffic = trafficLog(flags, log, worker, key => destinations.nameOf(key));
	const destinations = new Destinations({
		...{log: traffic, format: format ?? DEFAULT_FORMAT, isStdoutNull: isStdoutNull()},
		onLost: (destination, {lostBytes, leftOutLines}) =>
			log.error('log-error', `The log at ${destination} is not complete.`, {
				...{destination, lostBytes, leftOutLines},
			}),
	});
	const connections = new Connections();
	const ports = new Ports({
		accept: (socket, {rule, port}) =>
			void connections.keep(forward(socket, {traffic, log, rule, port})).catch(error => logBug(log, error)),
		onDropped: (port, limit) =>
			log.warn('raw.connections_full', `Port ${port} has ${limit} connections; more are closed.`, {port}),
	});
	for (const rule of rules) tell(log, rule, (await ports.add(rule)).port);
	await destinations.start(directory, format);
	await stop.asked;
	ports.close();
	await Promise.race([connections.close(), stop.urged]);
	const patience = sleep(PATIENCE_MS, undefined, {ref: false});
	await Promise.race([destinations.close(), patience, stop.urged.then(() => sleep(100))]);
	await traffic.end();
	await log.flush();
	await stderr.close();
	return 0;
}

const tell = (log: Log, rule: Rule, port: number): void => {
	const local = listenText({host: rule.local.host, port});
	const target = targetText(rule);
	log.info('raw.listening', `Connections to ${local} go to ${target}.`, {local, target, listen_port: port});
};

const trafficLog = (flags: Flags, log: Log, worker: URL, nameOf: (key: number) => string): BackgroundLog =>
	new BackgroundLog({
		...{flushMs: flags.flushMs, maxBytes: flags.maxBufferBytes, onFull: flags.onFull, worker},
		stdout: ownStdout(),
		onTrouble: (key, sentence, leftOutLines) =>
			log.error('log-error', sentence, {destination: nameOf(key), leftOutLines}),
		onBug: error => logBug(log, error),
	});
