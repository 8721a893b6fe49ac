import {join} from 'node:path';
import type {Origin} from '../envelope.js';
import {appendAll, endLastLine} from './append.js';
import {Buffers} from './buffers.js';
import {microseconds, stamp} from './clock.js';
import {fileName} from './file-name.js';

/** Where lines go: one file, or a folder of files that are named by the time of what is in them. */
export type Destination = {readonly file: string} | {readonly folder: string; readonly format: string};

export type TrafficLogOptions = {
	readonly destination: Destination;
	/** How long lines wait to be written together. */
	readonly flushMs?: number;
	/** How much may wait to be written. */
	readonly maxBytes?: number;
	/** What happens when more would: lines are left out and counted, or traffic waits. */
	readonly onFull?: 'gap' | 'wait';
	/** Told when writing fails, and when it works again. */
	readonly onTrouble?: (sentence: string) => void;
};

/** So much is written before its time, to keep memory small under heavy traffic. */
const EARLY_FLUSH = 8 * 2 ** 20;

const OPENING = Buffer.from('{"time":"');
const STAMP_BYTES = OPENING.length + stamp(0).length;

/** An NDJSON log in RawProx's format. Traffic never waits for it, unless it is told to be complete at that price. */
export class TrafficLog {
	readonly #options: Required<TrafficLogOptions>;
	/** What waits, file by file, in the order of time. */
	readonly #sections: Array<{readonly file: string; readonly lines: Buffers}> = [];
	/** What is being written, or is left of it after a failure. */
	#batch: {readonly file: string; readonly buffers: Buffer[]} | undefined;
	#waitingBytes = 0;
	#gap = {lines: 0, bytes: 0};
	#leftOutBytes = 0;
	/** How many lines could not be taken, since the beginning. */
	leftOutLines = 0;
	readonly #held: Array<() => void> = [];
	#timer: NodeJS.Timeout | undefined;
	#flushing: Promise<void> | undefined;
	#next: Promise<void> | undefined;
	#lastFile = '';
	#named = {second: -1, file: ''};
	#hasTrouble: boolean;

	constructor(options: TrafficLogOptions) {
		this.#hasTrouble = false;
		this.#options = {flushMs: 2000, maxBytes: 256 * 2 ** 20, onFull: 'gap', onTrouble: () => {}, ...options};
	}

	/**
	 * Adds a line: `{"time":"…` and these parts as they are, from the quote that ends the time to the line feed.
	 * `origin` is who waits where traffic waits for a log that is full.
	 */
	add(parts: readonly Buffer[], origin?: Origin): void {
		const {maxBytes, onFull} = this.#options;
		const size = bytesOf(parts);
		const isFull = this.#waitingBytes + size + STAMP_BYTES > maxBytes;
		if (isFull && onFull === 'gap') {
			this.#gap = {lines: this.#gap.lines + 1, bytes: this.#gap.bytes + size};
			this.#leftOutBytes += size;
			this.leftOutLines++;
			if (!this.#hasTrouble) void this.flush();
			return;
		}
		if (isFull && origin) this.#held.push(origin.valve.shut());
		this.#writeGap();
		this.#write(parts);
		const isUrgent = isFull || this.#waitingBytes > EARLY_FLUSH;
		if (isUrgent && !this.#hasTrouble) void this.flush();
		else this.#flushLater();
	}

	/** Writes what waits, also what came to wait while it was writing. */
	flush(): Promise<void> {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		if (this.#flushing !== undefined) {
			this.#next ??= this.#flushing.then(() => {
				this.#next = undefined;
				return this.flush();
			});
			return this.#next;
		}
		this.#flushing = this.#flushAll().finally(() => {
			this.#flushing = undefined;
		});
		return this.#flushing;
	}

	/** Writes all there is, lets go of whoever waits, and resolves to the number of bytes that could not be written. */
	async close(): Promise<number> {
		this.#writeGap();
		await this.flush();
		clearTimeout(this.#timer);
		this.#release();
		// Where this cannot be written, nor can the lines that tell of gaps.
		return this.#waitingBytes === 0 ? 0 : this.#waitingBytes + this.#leftOutBytes;
	}

	#write(parts: readonly Buffer[]): void {
		const at = microseconds();
		const {lines} = this.#section(at);
		const before = lines.size;
		lines.add(OPENING);
		lines.add(stamp(at));
		for (const part of parts) lines.add(part);
		this.#waitingBytes += lines.size - before;
	}

	/** Says how much is missing, where it is missing. */
	#writeGap(): void {
		const {lines, bytes} = this.#gap;
		if (lines === 0) return;
		this.#gap = {lines: 0, bytes: 0};
		const gap = Buffer.from(`","event":"gap","lines":${lines},"bytes":${bytes}}\n`);
		this.#write([gap]);
	}

	#section(at: number): {readonly lines: Buffers} {
		const {destination} = this.#options;
		const file = 'file' in destination ? destination.file : this.#fileAt(destination, at);
		const last = this.#sections.at(-1);
		if (last?.file === file) return last;
		const section = {file, lines: new Buffers()};
		this.#sections.push(section);
		return section;
	}

	/** Names have no part smaller than a second. */
	#fileAt({folder, format}: {readonly folder: string; readonly format: string}, at: number): string {
		const second = Math.floor(at / 1e6);
		if (second !== this.#named.second) this.#named = {second, file: join(folder, fileName(format, at))};
		return this.#named.file;
	}

	async #flushAll(): Promise<void> {
		try {
			if (this.#batch) await this.#flushNext();
			for (let left = this.#sections.length; left > 0; left--) await this.#flushNext();
			if (this.#hasTrouble) this.#options.onTrouble('The traffic log is being written again.');
			this.#hasTrouble = false;
		} catch (error) {
			if (!this.#hasTrouble) this.#options.onTrouble(this.#trouble(error as Error));
			this.#hasTrouble = true;
			this.#flushLater();
		}
	}

	async #flushNext(): Promise<void> {
		const section = this.#sections[0];
		if (!this.#batch && section) {
			this.#batch = {file: section.file, buffers: section.lines.take()};
			// The last section is the one that is being added to.
			if (this.#sections.length > 1) this.#sections.shift();
		}
		if (!this.#batch) return;
		const {file, buffers} = this.#batch;
		const before = bytesOf(buffers);
		try {
			if (file !== this.#lastFile) await endLastLine(file);
			this.#lastFile = file;
			await appendAll(file, buffers);
			this.#batch = undefined;
		} finally {
			this.#waitingBytes -= before - bytesOf(buffers);
			if (this.#waitingBytes < this.#options.maxBytes / 2) this.#release();
		}
	}

	#flushLater(): void {
		this.#timer ??= setTimeout(() => void this.flush(), this.#options.flushMs);
		// While traffic waits for it, it may be all that keeps the process running.
		if (this.#held.length === 0) this.#timer.unref();
		else this.#timer.ref();
	}

	#release(): void {
		for (const open of this.#held.splice(0)) open();
	}

	#trouble({message}: Error): string {
		return `The traffic log cannot be written: ${message}. Traffic goes on, and ${this.#options.maxBytes} bytes of it are kept meanwhile.`;
	}
}

const bytesOf = (buffers: readonly Buffer[]): number => buffers.reduce((sum, {length}) => sum + length, 0);
