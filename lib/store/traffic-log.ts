import {join} from 'node:path';
import type {Origin} from '../envelope.js';
import {appendAll, endLastLine, reasonOf, writeAll} from './append.js';
import {Buffers} from './buffers.js';
import {microseconds, stamp} from './clock.js';
import {fileName} from './file-name.js';
import {type LineForm, written} from './line-form.js';
import {runsIn} from './records.js';

/** Where lines go: one file, or a folder of files that are named by the time of what is in them. */
export type Destination = {readonly file: string} | {readonly folder: string; readonly format: string};

/** Where lines go that are no file's: resolves to how many bytes were taken. */
export type Stream = {readonly write: (buffers: readonly Buffer[]) => Promise<number>};

export type TrafficLogOptions = {
	readonly destination: Destination | Stream;
	/** How long lines wait to be written together. */
	readonly flushMs?: number;
	/** How much may wait to be written. */
	readonly maxBytes?: number;
	/** So much is written before its time, to keep memory small under heavy traffic. */
	readonly earlyBytes?: number;
	/** What happens when more would: lines are left out and counted, or traffic waits. */
	readonly onFull?: 'gap' | 'wait';
	/** What lines are while they wait. */
	readonly form?: LineForm;
	/** Told when writing fails, and when it works again. */
	readonly onTrouble?: (sentence: string) => void;
};

/** What is being written: as it waited, and as it is to be written. */
type Batch = {readonly file: string; readonly waiting: Buffer[]; readonly ready: Buffer[]};

/** What is to be added: its size, and the time of its first line. */
type Added = {readonly lines: number; readonly bytes: number; readonly time: number};

/** Who waits for a buffer that is full goes on when there is so much room: soon, so that both have always something to do. */
const ROOM_BYTES = 16 * 2 ** 20;

const STAMP_BYTES = '{"time":"'.length + stamp(0).length;

/** An NDJSON log in RawProx's format. Traffic never waits for it, unless it is told to be complete at that price. */
export class TrafficLog {
	readonly #options: Required<TrafficLogOptions>;
	/** What waits, file by file, in the order of time. */
	readonly #sections: Array<{readonly file: string; readonly lines: Buffers}> = [];
	/** What is being written, or is left of it after a failure. */
	#batch: Batch | undefined;
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
	#hasTrouble = false;

	constructor(options: TrafficLogOptions) {
		this.#options = {
			flushMs: 2000,
			maxBytes: 256 * 2 ** 20,
			earlyBytes: 8 * 2 ** 20,
			onFull: 'gap',
			form: written,
			onTrouble: () => {},
			...options,
		};
	}

	/**
	 * Adds a line: `{"time":"…` and these parts as they are, from the quote that ends the time to the line feed.
	 * `origin` is who waits where traffic waits for a log that is full.
	 */
	add(parts: readonly Buffer[], origin?: Origin): void {
		const time = microseconds();
		if (this.#isLeftOut({lines: 1, bytes: bytesOf(parts), time}, origin)) return;
		this.#write(time, parts);
		this.#flushInTime();
	}

	/** Adds lines that are records, which the form has to be: see records.ts. The block is no longer the caller's. */
	addRecords(block: Buffer, origin?: Origin): void {
		for (const {file, lines, time, start, end} of runsIn(block, at => this.#fileAt(at))) {
			const bytes = end - start;
			if (this.#isLeftOut({lines, bytes, time}, origin)) continue;
			this.#section(file).add(block.subarray(start, end));
			this.#waitingBytes += bytes;
		}
		this.#flushInTime();
	}

	/** Counts lines as missing that somebody else could not take. */
	leaveOut(lines: number, bytes: number): void {
		this.#gap = {lines: this.#gap.lines + lines, bytes: this.#gap.bytes + bytes};
		this.#leftOutBytes += bytes;
		this.leftOutLines += lines;
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
		this.#writeGap(microseconds());
		await this.flush();
		clearTimeout(this.#timer);
		this.#release();
		// Where this cannot be written, nor can the lines that tell of gaps.
		return this.#waitingBytes === 0 ? 0 : this.#waitingBytes + this.#leftOutBytes;
	}

	/** Whether lines have no room. Where there is some, or has to be, what is missing before them is told first. */
	#isLeftOut({lines, bytes, time}: Added, origin: Origin | undefined): boolean {
		const {maxBytes, onFull} = this.#options;
		const isFull = this.#waitingBytes + bytes + STAMP_BYTES > maxBytes;
		if (isFull && onFull === 'gap') {
			this.leaveOut(lines, bytes);
			if (!this.#hasTrouble) void this.flush();
			return true;
		}
		if (isFull && origin) this.#held.push(origin.valve.shut());
		this.#writeGap(time);
		return false;
	}

	#write(time: number, parts: readonly Buffer[]): void {
		const lines = this.#section(this.#fileAt(time));
		const before = lines.size;
		this.#options.form.put(lines, time, parts);
		this.#waitingBytes += lines.size - before;
	}

	/** Says how much is missing, where it is missing. */
	#writeGap(time: number): void {
		const {lines, bytes} = this.#gap;
		if (lines === 0) return;
		this.#gap = {lines: 0, bytes: 0};
		const gap = Buffer.from(`","event":"gap","lines":${lines},"bytes":${bytes}}\n`);
		this.#write(time, [gap]);
	}

	/** Where the lines for a file wait. */
	#section(file: string): Buffers {
		const last = this.#sections.at(-1);
		if (last?.file === file) return last.lines;
		const lines = new Buffers();
		this.#sections.push({file, lines});
		return lines;
	}

	/** The file for lines of a time. Names have no part smaller than a second. */
	#fileAt(time: number): string {
		const {destination} = this.#options;
		if (!('folder' in destination)) return 'file' in destination ? destination.file : '';
		const second = Math.floor(time / 1e6);
		if (second !== this.#named.second)
			this.#named = {second, file: join(destination.folder, fileName(destination.format, time))};
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
			this.#batch = {file: section.file, waiting: section.lines.take(), ready: []};
			// The last section is the one that is being added to.
			if (this.#sections.length > 1) this.#sections.shift();
		}
		if (!this.#batch) return;
		const {file, waiting, ready} = this.#batch;
		let before = bytesOf(waiting) + bytesOf(ready);
		const settle = (): void => {
			const after = bytesOf(waiting) + bytesOf(ready);
			this.#waitingBytes += after - before;
			before = after;
			if (this.#waitingBytes < this.#goOnBytes) this.#release();
		};
		const refill = (): void => {
			settle();
			if (waiting.length > 0) ready.push(...this.#options.form.take(waiting));
		};
		try {
			await this.#append(file, ready, refill);
			this.#batch = undefined;
		} finally {
			settle();
		}
	}

	/** With less than this in the buffer traffic goes on that waits for it. */
	get #goOnBytes(): number {
		const {maxBytes} = this.#options;
		return Math.max(maxBytes / 2, maxBytes - ROOM_BYTES);
	}

	async #append(file: string, ready: Buffer[], refill: () => void): Promise<void> {
		const {destination} = this.#options;
		if ('write' in destination) return writeAll(ready, refill, destination.write);
		if (file !== this.#lastFile) await endLastLine(file);
		this.#lastFile = file;
		await appendAll(file, ready, refill);
	}

	#flushInTime(): void {
		const {earlyBytes, maxBytes} = this.#options;
		if (this.#waitingBytes > Math.min(earlyBytes, maxBytes) && !this.#hasTrouble) void this.flush();
		else this.#flushLater();
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

	#trouble(error: Error): string {
		return `The traffic log cannot be written: ${reasonOf(error)} Traffic continues, and up to ${this.#options.maxBytes} bytes of it are buffered until the log can be written.`;
	}
}

const bytesOf = (buffers: readonly Buffer[]): number => buffers.reduce((sum, {length}) => sum + length, 0);
