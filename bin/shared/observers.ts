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

type LogFlags = OptionValues<typeof logOptions>;

/** The components that observe traffic: log, trace, traffic log and live traffic. */
export type Observers = {
	readonly stderr: StderrWriter;
	readonly log: Log;
	readonly trace: TraceOptions | undefined;
	/** The live traffic of this process. */
	readonly live: LiveTraffic;
	/** Creates taps for one conversation; undefined without a traffic log. */
	createTaps(client: string, upstream: string): Taps | undefined;
	/** Creates taps that also feed the live traffic. */
	createLiveTaps(client: string, upstream: string): Taps;
	/** The number of lines that the traffic log dropped. */
	droppedLines(): number;
	/** Flushes everything. */
	close(): Promise<void>;
};

/** Creates only the log on stderr. */
export function createStderrLog({
	logLevel: level,
	logFormat,
}: Pick<LogFlags, 'logLevel' | 'logFormat'>): Pick<Observers, 'stderr' | 'log'> {
	const stderr = openStderr();
	const write = (line: string): void => stderr.write(line);
	const isPretty = isForPeople(stderr, logFormat);
	return {stderr, log: createLog({level, write, isPretty, hasColor: hasColor(stderr)})};
}

/** Whether stderr is for people: sentences in local time. Otherwise it has JSON lines with UTC times. */
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

/** Runs an action with observers. Logs the warnings of the configuration first. */
export async function withObservers<T>(
	flags: LogFlags,
	warnings: readonly string[],
	action: (observers: Observers) => Promise<T>,
): Promise<T> {
	await checkTrafficLog(flags);
	const observers = createObservers(flags);
	try {
		for (const warning of warnings) observers.log.warn('config.warning', warning);
		return await action(observers);
	} finally {
		await observers.close();
	}
}

const trafficOptions = (flags: LogFlags, log: Log) => ({
	flushMs: flags.flushMillis,
	maxBytes: flags.maxBuffer,
	onFull: flags.onFull,
	onTrouble: (sentence: string) => log.error('log.trouble', sentence),
});

/** Checks before any traffic that the traffic log can be written. */
export async function checkTrafficLog({log}: Pick<LogFlags, 'log'>): Promise<void> {
	if (!log) return;
	try {
		if ('folder' in log) await makeFolder(log.folder);
		const file = 'folder' in log ? join(log.folder, logFileName(log.format, nowMicroseconds())) : log.file;
		await (await openForAppend(file)).close();
	} catch (error) {
		const message = `The traffic log cannot be written: ${(error as Error).message}.`;
		const remedy =
			error instanceof UnsafeFileError ? error.remedy : 'Use a file in an existing folder, or @DIR.';
		throw new BridgeError('ERR_CONFIG_INVALID', message, remedy);
	}
}

/** Logs a failure of stdin or stdout. Returns whether there was one. A closed pipe is not a failure. */
export function logStdioFailure(stdio: StdioEndpoint, log: Log): boolean {
	const failure = stdio.failure();
	if (failure) log.error('stdio.failed', `stdin or stdout failed: ${failure.message}.`);
	return failure !== undefined;
}
