import {join} from 'node:path';
import process from 'node:process';
import {BridgeError} from '../../lib/errors.js';
import {createLog, type Log} from '../../lib/log.js';
import {record, type Taps} from '../../lib/operators/record.js';
import type {TraceOptions} from '../../lib/operators/trace.js';
import {openToAppend} from '../../lib/store/append.js';
import {microseconds} from '../../lib/store/clock.js';
import {fileName} from '../../lib/store/file-name.js';
import {LiveTraffic} from '../../lib/store/live-traffic.js';
import {makeFolder} from '../../lib/store/make-folder.js';
import {UnsafeFile} from '../../lib/store/own-file.js';
import {TrafficLog} from '../../lib/store/traffic-log.js';
import {ownStderr, type Stderr} from '../../lib/transports/own-stderr.js';
import type {OwnStdio} from '../../lib/transports/own-stdio.js';
import type {Values} from '../cli/option.js';
import type {logOptions} from '../cli/options.js';

/** The flags of the traffic log, the trace and the log on stderr. */
export type LogFlags = Values<typeof logOptions>;

/** All that looks on while messages pass, and writes down what it sees. */
export type Observers = {
	readonly stderr: Stderr;
	readonly log: Log;
	readonly trace: TraceOptions | undefined;
	/** The traffic as it passes. */
	readonly live: LiveTraffic;
	/** Taps for a conversation between these two, for the log if there is one. */
	taps(client: string, upstream: string): Taps | undefined;
	/** The same, also for who looks on while it passes. */
	liveTaps(client: string, upstream: string): Taps;
	/** How many lines the traffic log had to leave out. */
	leftOutLines(): number;
	/** Writes everything out. */
	close(): Promise<void>;
};

/** The log on stderr alone. */
export function ownLog({
	logLevel: level,
	logFormat,
}: Pick<LogFlags, 'logLevel' | 'logFormat'>): Pick<Observers, 'stderr' | 'log'> {
	const stderr = ownStderr();
	const write = (line: string): void => stderr.write(line);
	const isPretty = isForPeople(stderr, logFormat);
	return {stderr, log: createLog({level, write, isPretty, hasColor: hasColor(stderr)})};
}

/** Whether lines on stderr are for people: sentences in local time. Otherwise they are JSON, and times are in UTC. */
const isForPeople = ({isTerminal}: Stderr, format: LogFlags['logFormat']): boolean =>
	format === undefined ? isTerminal : format === 'pretty';

const hasColor = (stderr: Stderr): boolean => stderr.isTerminal && !process.env.NO_COLOR;

export function observers(flags: LogFlags): Observers {
	const {stderr, log} = ownLog(flags);
	const write = (line: string): void => stderr.write(line);
	const live = new LiveTraffic();
	const traffic = flags.log && new TrafficLog({...trafficOptions(flags, log), destination: flags.log});
	return {
		stderr,
		log,
		trace: flags.debug
			? {write, hasColour: hasColor(stderr), isUtc: !isForPeople(stderr, flags.logFormat)}
			: undefined,
		live,
		taps: (client, upstream) =>
			traffic && record({log: traffic, client, upstream, withSecrets: flags.logSecrets}),
		liveTaps: (client, upstream) =>
			record({
				client,
				upstream,
				withSecrets: flags.logSecrets,
				isOn: () => traffic !== undefined || live.isHeard,
				log: {
					add(parts, origin) {
						traffic?.add(parts, origin);
						live.add(parts);
					},
				},
			}),
		leftOutLines: () => traffic?.leftOutLines ?? 0,
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
export async function observed<T>(
	flags: LogFlags,
	warnings: readonly string[],
	action: (watchers: Observers) => Promise<T>,
): Promise<T> {
	await checkLog(flags);
	const watchers = observers(flags);
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
export async function checkLog({log}: Pick<LogFlags, 'log'>): Promise<void> {
	if (!log) return;
	try {
		if ('folder' in log) await makeFolder(log.folder);
		const file = 'folder' in log ? join(log.folder, fileName(log.format, microseconds())) : log.file;
		await (await openToAppend(file)).close();
	} catch (error) {
		const message = `The traffic log cannot be written: ${(error as Error).message}.`;
		const remedy =
			error instanceof UnsafeFile ? error.remedy : 'Name a file in a folder that exists, or @DIR.';
		throw new BridgeError('ERR_CONFIG_INVALID', message, remedy);
	}
}

/** Whether stdin or stdout failed by something else than that the client is gone, which is told then. */
export function failed(stdio: OwnStdio, log: Log): boolean {
	const failure = stdio.failure();
	if (failure) log.error('stdio.failed', `stdin or stdout cannot be used any more: ${failure.message}.`);
	return failure !== undefined;
}
