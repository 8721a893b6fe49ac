import {join} from 'node:path';
import process from 'node:process';
import {BridgeError} from '../../lib/core/errors.js';
import {LiveTraffic} from '../../lib/core/live-traffic.js';
import {createLog, type Log} from '../../lib/core/log.js';
import {openForAppend} from '../../lib/files/append-file.js';
import {makeFolder} from '../../lib/files/make-folder.js';
import {UnsafeFileError} from '../../lib/files/secure-file.js';
import type {TraceOptions} from '../../lib/operators/trace.js';
import {logFileName} from '../../lib/traffic-log/log-file-name.js';
import {recordMessages, type Taps} from '../../lib/traffic-log/record-messages.js';
import {TrafficLog} from '../../lib/traffic-log/traffic-log.js';
import {openStderr, type StderrWriter} from '../../lib/transports/stdio/stderr.js';
import type {StdioEndpoint} from '../../lib/transports/stdio/stdio.js';
import {nowMicroseconds} from '../../lib/util/clock.js';
import type {OptionValues} from './cli/option.js';
import type {logOptions} from './cli/options.js';

/** The flags of the traffic log, the trace and the log on stderr. */
type LogFlags = OptionValues<typeof logOptions>;

/** All that looks on while messages pass, and writes down what it sees. */
export type Observers = {
	readonly stderr: StderrWriter;
	readonly log: Log;
	readonly trace: TraceOptions | undefined;
	/** The traffic as it passes. */
	readonly live: LiveTraffic;
	/** Taps for a conversation between these two, for the log if there is one. */
	createTaps(client: string, upstream: string): Taps | undefined;
	/** The same, also for who looks on while it passes. */
	createLiveTaps(client: string, upstream: string): Taps;
	/** How many lines the traffic log had to leave out. */
	droppedLines(): number;
	/** Writes everything out. */
	close(): Promise<void>;
};

/** The log on stderr alone. */
export function createStderrLog({
	logLevel: level,
	logFormat,
}: Pick<LogFlags, 'logLevel' | 'logFormat'>): Pick<Observers, 'stderr' | 'log'> {
	const stderr = openStderr();
	const write = (line: string): void => stderr.write(line);
	const isPretty = isForPeople(stderr, logFormat);
	return {stderr, log: createLog({level, write, isPretty, hasColor: hasColor(stderr)})};
}

/** Whether lines on stderr are for people: sentences in local time. Otherwise they are JSON, and times are in UTC. */
const isForPeople = ({isTerminal}: StderrWriter, format: LogFlags['logFormat']): boolean =>
	format === undefined ? isTerminal : format === 'pretty';

const hasColor = (stderr: StderrWriter): boolean => stderr.isTerminal && !process.env.NO_COLOR;

export function createObservers(flags: LogFlags): Observers {
	const {stderr, log} = createStderrLog(flags);
	const write = (line: string): void => stderr.write(line);
	const live = new LiveTraffic();
	const traffic = flags.log && new TrafficLog({...trafficOptions(flags, log), destination: flags.log});
	return {
		stderr,
		log,
		trace: flags.debug
			? {write, hasColor: hasColor(stderr), isUtc: !isForPeople(stderr, flags.logFormat)}
			: undefined,
		live,
		createTaps: (client, upstream) =>
			traffic && recordMessages({log: traffic, client, upstream, withSecrets: flags.logSecrets}),
		createLiveTaps: (client, upstream) =>
			recordMessages({
				client,
				upstream,
				withSecrets: flags.logSecrets,
				isOn: () => traffic !== undefined || live.hasListeners,
				log: {
					add(parts, origin) {
						traffic?.add(parts, origin);
						live.add(parts);
					},
				},
			}),
		droppedLines: () => traffic?.droppedLines ?? 0,
		async close() {
			const lost = (await traffic?.close()) ?? 0;
			if (lost > 0)
				log.error('log.lost', `${lost} bytes of the traffic log could not be written.`, {bytes: lost});
			await log.flush();
			await stderr.close();
		},
	};
}

/** Does something while they look on, after what the configuration has to be warned of. */
export async function withObservers<T>(
	flags: LogFlags,
	warnings: readonly string[],
	action: (watchers: Observers) => Promise<T>,
): Promise<T> {
	await checkTrafficLog(flags);
	const watchers = createObservers(flags);
	try {
		for (const warning of warnings) watchers.log.warn('config.warning', warning);
		return await action(watchers);
	} finally {
		await watchers.close();
	}
}

const trafficOptions = (flags: LogFlags, log: Log) => ({
	flushMs: flags.flushMillis,
	maxBytes: flags.maxBuffer,
	onFull: flags.onFull,
	onTrouble: (sentence: string) => log.error('log.trouble', sentence),
});

/** Finds out before any traffic whether the traffic log can be written where it is wanted. */
export async function checkTrafficLog({log}: Pick<LogFlags, 'log'>): Promise<void> {
	if (!log) return;
	try {
		if ('folder' in log) await makeFolder(log.folder);
		const file = 'folder' in log ? join(log.folder, logFileName(log.format, nowMicroseconds())) : log.file;
		await (await openForAppend(file)).close();
	} catch (error) {
		const message = `The traffic log cannot be written: ${(error as Error).message}.`;
		const remedy =
			error instanceof UnsafeFileError ? error.remedy : 'Name a file in a folder that exists, or @DIR.';
		throw new BridgeError('ERR_CONFIG_INVALID', message, remedy);
	}
}

/** Whether stdin or stdout failed by something else than that the client is gone, which is told then. */
export function logStdioFailure(stdio: StdioEndpoint, log: Log): boolean {
	const failure = stdio.failure();
	if (failure) log.error('stdio.failed', `stdin or stdout cannot be used any more: ${failure.message}.`);
	return failure !== undefined;
}
