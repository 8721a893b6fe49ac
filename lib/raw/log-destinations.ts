import {constants} from 'node:fs';
import {access} from 'node:fs/promises';
import {join, resolve} from 'node:path';
import {BridgeError} from '../core/errors.js';
import {checkAppendTarget} from '../files/append-file.js';
import {makeFolder} from '../files/make-folder.js';
import {UnsafeFileError} from '../files/secure-file.js';
import type {LogCloseResult} from '../traffic-log/background-log.js';
import {checkFileNameFormat, logFileName} from '../traffic-log/log-file-name.js';
import type {TrafficLine} from '../traffic-log/records.js';
import type {LogDestination} from '../traffic-log/traffic-log.js';
import {nowMicroseconds} from '../util/clock.js';

/** The part of BackgroundLog that is used here. */
export type MultiDestinationLog = {
	add(line: TrafficLine): void;
	open(destination: LogDestination | 'stdout'): number;
	close(key: number, last?: TrafficLine): Promise<LogCloseResult>;
};

type LogDestinationsOptions = {
	readonly log: MultiDestinationLog;
	readonly format: string;
	/** Whether stdout is /dev/null, so that nothing is written to it. */
	readonly isStdoutNull?: boolean;
	/** Called if a closed destination is incomplete. */
	readonly onLost: (name: string, closed: LogCloseResult) => void;
};

type ActiveDestination = {
	/** The directory as requested; null is stdout. */
	readonly directory: string | null;
	readonly format: string | undefined;
	/** The key in the log; undefined if nothing is written. */
	readonly key: number | undefined;
};

const MAX_DESTINATIONS = 100;

const destinationName = (directory: string | null): string => directory ?? 'STDOUT';

/** The current destinations of the traffic log. Starts and stops are recorded in the log itself. */
export class LogDestinations {
	readonly #options: LogDestinationsOptions;
	/** By absolute path; null is stdout. */
	readonly #active = new Map<string | null, ActiveDestination>();
	/** Destinations that still have to write their buffers. */
	readonly #ending = new Map<Promise<void>, ActiveDestination>();

	constructor(options: LogDestinationsOptions) {
		this.#options = options;
	}

	nameOf(key: number): string {
		const found = [...this.#active.values()].find(active => active.key === key);
		return destinationName(found?.directory ?? null);
	}

	get format(): string {
		return this.#options.format;
	}

	/** Starts logging to a folder or to stdout. For an active destination, only the event is repeated. */
	async start(directory: string | null, requestedFormat?: string): Promise<void> {
		const {log, format: defaultFormat} = this.#options;
		if (directory === null) {
			this.#open({directory, format: undefined});
			log.add(eventLine('start-logging', {directory}));
			return;
		}
		const format = requestedFormat ?? defaultFormat;
		await prepareFolder(resolve(directory), format);
		this.#open({directory, format});
		log.add(eventLine('start-logging', {directory, filename_format: format}));
	}

	#open(requested: Omit<ActiveDestination, 'key'>): void {
		const {log, isStdoutNull} = this.#options;
		const path = destinationPath(requested.directory);
		const existing = this.#active.get(path);
		if (existing && existing.format === requested.format) return;
		if (!existing && this.#active.size >= MAX_DESTINATIONS) throw tooMany();
		if (existing) void this.#end(existing);
		const key =
			path === null ? (isStdoutNull ? undefined : log.open('stdout')) : this.#openFolder(path, requested);
		this.#active.set(path, {...requested, key});
	}

	#openFolder(folder: string, {format = this.#options.format}: Omit<ActiveDestination, 'key'>): number {
		return this.#options.log.open({folder, format});
	}

	/** Stops logging to a folder, to stdout (null) or, without an argument, to all. Resolves to the names. */
	async stop(directory?: string | null): Promise<string[]> {
		const one = directory === undefined ? undefined : this.#active.get(destinationPath(directory));
		if (directory !== undefined && !one) throw notActive(directory);
		const stopped = one ? [one] : [...this.#active.values()];
		await Promise.all(
			stopped.map(active => this.#end(active, eventLine('stop-logging', {directory: active.directory}))),
		);
		return stopped.map(active => destinationName(active.directory));
	}

	/**
	 * Closes all destinations, including those that still have to write their buffers. Waits for files without
	 * limit, and for stdout until `deadline`. Resolves to whether all is written.
	 */
	async close(deadline: Promise<unknown>): Promise<boolean> {
		for (const active of [...this.#active.values()]) void this.#end(active);
		await Promise.all(
			[...this.#ending].filter(([, {directory}]) => directory !== null).map(([ended]) => ended),
		);
		await Promise.race([Promise.all(this.#ending.keys()), deadline]);
		return this.#ending.size === 0;
	}

	async #end(active: ActiveDestination, last?: TrafficLine): Promise<void> {
		const path = destinationPath(active.directory);
		if (this.#active.get(path) === active) this.#active.delete(path);
		if (active.key === undefined) return;
		const ended = this.#write(active, active.key, last);
		this.#ending.set(ended, active);
		await ended;
		this.#ending.delete(ended);
	}

	async #write({directory}: ActiveDestination, key: number, last: TrafficLine | undefined): Promise<void> {
		const {log, onLost} = this.#options;
		const closed = await log.close(key, last);
		if (closed.lostBytes > 0 || closed.leftOutLines > 0) onLost(destinationName(directory), closed);
	}
}

const eventLine = (name: string, fields: {readonly [key: string]: string | null}): TrafficLine => ({
	head: Buffer.from(`","event":"${name}",${JSON.stringify(fields).slice(1)}\n`),
});

const destinationPath = (directory: string | null): string | null =>
	directory === null ? null : resolve(directory);

/** Creates a folder if necessary and rejects it if files cannot be written to it. */
async function prepareFolder(directory: string, format: string): Promise<void> {
	checkFileNameFormat(format);
	try {
		await makeFolder(directory);
		await access(directory, constants.W_OK);
		await checkAppendTarget(join(directory, logFileName(format, nowMicroseconds())));
	} catch (error) {
		const message = `The traffic log cannot be written to ${directory}: ${(error as Error).message}.`;
		const remedy = error instanceof UnsafeFileError ? error.remedy : 'Name a folder that can be written to.';
		throw new BridgeError('ERR_CONFIG_INVALID', message, remedy);
	}
}

const notActive = (directory: string | null): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`Nothing is logged to ${destinationName(directory)}.`,
		'Use start-logging to start it.',
	);

const tooMany = (): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`The limit of ${MAX_DESTINATIONS} destinations is reached.`,
		'Stop logging to one of them first.',
	);
