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

/** The log that has destinations: see BackgroundLog. */
export type MultiDestinationLog = {
	add(line: TrafficLine): void;
	open(destination: LogDestination | 'stdout'): number;
	close(key: number, last?: TrafficLine): Promise<LogCloseResult>;
};

type LogDestinationsOptions = {
	readonly log: MultiDestinationLog;
	/** How files are named where nobody says. */
	readonly format: string;
	/** Whether nobody can ever see what is written to stdout. */
	readonly isStdoutNull?: boolean;
	/** Told of what could not be written by the end. */
	readonly onLost: (name: string, closed: LogCloseResult) => void;
};

type ActiveDestination = {
	/** As it was named by whoever started it; null is stdout. */
	readonly directory: string | null;
	readonly format: string | undefined;
	/** Its number in the log. */
	readonly key: number | undefined;
};

const MAX_DESTINATIONS = 100;

/** What people call a destination. */
const destinationName = (directory: string | null): string => directory ?? 'STDOUT';

/** Where the traffic log goes at present, and what is written there about that. */
export class LogDestinations {
	readonly #options: LogDestinationsOptions;
	/** By the whole path of a folder; null is stdout. */
	readonly #active = new Map<string | null, ActiveDestination>();
	/** What is being written to its end. */
	readonly #ending = new Map<Promise<void>, ActiveDestination>();

	constructor(options: LogDestinationsOptions) {
		this.#options = options;
	}

	/** The name of a destination, by its number in the log. */
	nameOf(key: number): string {
		const found = [...this.#active.values()].find(one => one.key === key);
		return destinationName(found?.directory ?? null);
	}

	/** The format of names where none is given. */
	get format(): string {
		return this.#options.format;
	}

	/** Begins to log to a folder, or to stdout. Who is logged to already hears of it again. */
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

	/** Ends logging to a folder, to stdout (null), or, without either, to all. Resolves to what they were called. */
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
	 * Writes all there is, everywhere, also where logging has been ended but not yet done. Files are waited for, however
	 * long they take; whoever reads stdout until `hurry`. Resolves to whether all is done.
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

/** A line about the log itself. */
const eventLine = (name: string, facts: {readonly [key: string]: string | null}): TrafficLine => ({
	head: Buffer.from(`","event":"${name}",${JSON.stringify(facts).slice(1)}\n`),
});

const destinationPath = (directory: string | null): string | null =>
	directory === null ? null : resolve(directory);

/** Finds out whether files can be written to a folder, which is made if it is not there. */
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
		'start-logging says where to.',
	);

const tooMany = (): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`There are ${MAX_DESTINATIONS} destinations.`,
		'Stop logging to one of them first.',
	);
