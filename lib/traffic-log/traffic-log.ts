import {join} from 'node:path';
import type {MessageOrigin} from '../core/envelope.js';
import {appendBuffers, describeFileError, terminateLastLine, writeBuffers} from '../files/append-file.js';
import {isoTimeBytes, nowMicroseconds} from '../util/clock.js';
import {BufferList} from './buffer-list.js';
import {type LineEncoding, textEncoding} from './line-encoding.js';
import {logFileName} from './log-file-name.js';
import {splitByFile} from './records.js';

/** Where lines go: one file, or a folder of files that are named by the time of what is in them. */
export type LogDestination = {readonly file: string} | {readonly folder: string; readonly format: string};

/** Where lines go that are no file's: resolves to how many bytes were taken. */
export type LogStream = {readonly write: (buffers: readonly Buffer[]) => Promise<number>};

export type TrafficLogOptions = {
	readonly destination: LogDestination | LogStream;
	/** How long lines wait to be written together. */
	readonly flushMs?: number;
	/** How much may wait to be written. */
	readonly maxBytes?: number;
	/** So much is written before its time, to keep memory small under heavy traffic. */
	readonly flushThresholdBytes?: number;
	/** What happens when more would: lines are left out and counted, or traffic waits. */
	readonly onFull?: 'gap' | 'wait';
	/** What lines are while they wait. */
	readonly encoding?: LineEncoding;
	/** Told when writing fails, and when it works again. */
	readonly onTrouble?: (sentence: string) => void;
};

/** What is being written: as it waited, and as it is to be written. */
type Batch = {readonly file: string; readonly queued: Buffer[]; readonly ready: Buffer[]};

/** What is to be added: its size, and the time of its first line. */
type AddedLines = {readonly lines: number; readonly bytes: number; readonly time: number};

/** Who waits for a buffer that is full goes on when there is so much room: soon, so that both have always something to do. */
const RESUME_MARGIN_BYTES = 16 * 2 ** 20;

const TIME_BYTES = '{"time":"'.length + isoTimeBytes(0).length;

/** An NDJSON log in RawProx's format. Traffic never waits for it, unless it is told to be complete at that price. */
export class TrafficLog {
	readonly #options: Required<TrafficLogOptions>;
	/** What waits, file by file, in the order of time. */
	readonly #sections: Array<{readonly file: string; readonly lines: BufferList}> = [];
	/** What is being written, or is left of it after a failure. */
	#batch: Batch | undefined;
	#bufferedBytes = 0;
	#gap = {lines: 0, bytes: 0};
	#droppedBytes = 0;
	/** How many lines could not be taken, since the beginning. */
	droppedLines = 0;
	readonly #valveReleases: Array<() => void> = [];
	#timer: NodeJS.Timeout | undefined;
	#flushing: Promise<void> | undefined;
	#nextFlush: Promise<void> | undefined;
	#lastAppendedFile = '';
	#fileNameCache = {second: -1, file: ''};
	#isFailing = false;

	constructor(options: TrafficLogOptions) {
		this.#options = {
			flushMs: 2000,
			maxBytes: 256 * 2 ** 20,
			flushThresholdBytes: 8 * 2 ** 20,
			onFull: 'gap',
			encoding: textEncoding,
			onTrouble: () => {},
			...options,
		};
	}

	/**
	 * Adds a line: `{"time":"…` and these parts as they are, from the quote that ends the time to the line feed.
	 * `origin` is who waits where traffic waits for a log that is full.
	 */
	add(parts: readonly Buffer[], origin?: MessageOrigin): void {
		const time = nowMicroseconds();
		if (this.#shouldDrop({lines: 1, bytes: totalBytes(parts), time}, origin)) return;
		this.#write(time, parts);
		this.#scheduleFlush();
	}

	/** Adds lines that are records, which the form has to be: see records.ts. The block is no longer the caller's. */
	addRecords(block: Buffer, origin?: MessageOrigin): void {
		for (const {file, lines, time, start, end} of splitByFile(block, at => this.#fileAt(at))) {
			const bytes = end - start;
			if (this.#shouldDrop({lines, bytes, time}, origin)) continue;
			this.#sectionFor(file).add(block.subarray(start, end));
			this.#bufferedBytes += bytes;
		}
		this.#scheduleFlush();
	}

	/** Counts lines as missing that somebody else could not take. */
	countDropped(lines: number, bytes: number): void {
		this.#gap = {lines: this.#gap.lines + lines, bytes: this.#gap.bytes + bytes};
		this.#droppedBytes += bytes;
		this.droppedLines += lines;
	}

	/** Writes what waits, also what came to wait while it was writing. */
	flush(): Promise<void> {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		if (this.#flushing !== undefined) {
			this.#nextFlush ??= this.#flushing.then(() => {
				this.#nextFlush = undefined;
				return this.flush();
			});
			return this.#nextFlush;
		}
		this.#flushing = this.#flushAll().finally(() => {
			this.#flushing = undefined;
		});
		return this.#flushing;
	}

	/** Writes all there is, lets go of whoever waits, and resolves to the number of bytes that could not be written. */
	async close(): Promise<number> {
		this.#writeGap(nowMicroseconds());
		await this.flush();
		clearTimeout(this.#timer);
		this.#openValves();
		// Where this cannot be written, nor can the lines that tell of gaps.
		return this.#bufferedBytes === 0 ? 0 : this.#bufferedBytes + this.#droppedBytes;
	}

	/** Whether lines have no room. Where there is some, or has to be, what is missing before them is told first. */
	#shouldDrop({lines, bytes, time}: AddedLines, origin: MessageOrigin | undefined): boolean {
		const {maxBytes, onFull} = this.#options;
		const isFull = this.#bufferedBytes + bytes + TIME_BYTES > maxBytes;
		if (isFull && onFull === 'gap') {
			this.countDropped(lines, bytes);
			if (!this.#isFailing) void this.flush();
			return true;
		}
		if (isFull && origin) this.#valveReleases.push(origin.valve.shut());
		this.#writeGap(time);
		return false;
	}

	#write(time: number, parts: readonly Buffer[]): void {
		const lines = this.#sectionFor(this.#fileAt(time));
		const before = lines.size;
		this.#options.encoding.append(lines, time, parts);
		this.#bufferedBytes += lines.size - before;
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
	#sectionFor(file: string): BufferList {
		const last = this.#sections.at(-1);
		if (last?.file === file) return last.lines;
		const lines = new BufferList();
		this.#sections.push({file, lines});
		return lines;
	}

	/** The file for lines of a time. Names have no part smaller than a second. */
	#fileAt(time: number): string {
		const {destination} = this.#options;
		if (!('folder' in destination)) return 'file' in destination ? destination.file : '';
		const second = Math.floor(time / 1e6);
		if (second !== this.#fileNameCache.second)
			this.#fileNameCache = {second, file: join(destination.folder, logFileName(destination.format, time))};
		return this.#fileNameCache.file;
	}

	async #flushAll(): Promise<void> {
		try {
			if (this.#batch) await this.#flushNext();
			for (let left = this.#sections.length; left > 0; left--) await this.#flushNext();
			if (this.#isFailing) this.#options.onTrouble('The traffic log is being written again.');
			this.#isFailing = false;
		} catch (error) {
			if (!this.#isFailing) this.#options.onTrouble(this.#describeWriteError(error as Error));
			this.#isFailing = true;
			this.#startFlushTimer();
		}
	}

	async #flushNext(): Promise<void> {
		const section = this.#sections[0];
		if (!this.#batch && section) {
			this.#batch = {file: section.file, queued: section.lines.take(), ready: []};
			// The last section is the one that is being added to.
			if (this.#sections.length > 1) this.#sections.shift();
		}
		if (!this.#batch) return;
		const {file, queued: waiting, ready} = this.#batch;
		let before = totalBytes(waiting) + totalBytes(ready);
		const updateBufferedBytes = (): void => {
			const after = totalBytes(waiting) + totalBytes(ready);
			this.#bufferedBytes += after - before;
			before = after;
			if (this.#bufferedBytes < this.#resumeBelowBytes) this.#openValves();
		};
		const refill = (): void => {
			updateBufferedBytes();
			if (waiting.length > 0) ready.push(...this.#options.encoding.drain(waiting));
		};
		try {
			await this.#append(file, ready, refill);
			this.#batch = undefined;
		} finally {
			updateBufferedBytes();
		}
	}

	/** With less than this in the buffer traffic goes on that waits for it. */
	get #resumeBelowBytes(): number {
		const {maxBytes} = this.#options;
		return Math.max(maxBytes / 2, maxBytes - RESUME_MARGIN_BYTES);
	}

	async #append(file: string, ready: Buffer[], refill: () => void): Promise<void> {
		const {destination} = this.#options;
		if ('write' in destination) return writeBuffers(ready, refill, destination.write);
		if (file !== this.#lastAppendedFile) await terminateLastLine(file);
		this.#lastAppendedFile = file;
		await appendBuffers(file, ready, refill);
	}

	#scheduleFlush(): void {
		const {flushThresholdBytes: earlyBytes, maxBytes} = this.#options;
		if (this.#bufferedBytes > Math.min(earlyBytes, maxBytes) && !this.#isFailing) void this.flush();
		else this.#startFlushTimer();
	}

	#startFlushTimer(): void {
		this.#timer ??= setTimeout(() => void this.flush(), this.#options.flushMs);
		// While traffic waits for it, it may be all that keeps the process running.
		if (this.#valveReleases.length === 0) this.#timer.unref();
		else this.#timer.ref();
	}

	#openValves(): void {
		for (const open of this.#valveReleases.splice(0)) open();
	}

	#describeWriteError(error: Error): string {
		return `The traffic log cannot be written: ${describeFileError(error)} Traffic continues, and up to ${this.#options.maxBytes} bytes of it are buffered until the log can be written.`;
	}
}

const totalBytes = (buffers: readonly Buffer[]): number => buffers.reduce((sum, {length}) => sum + length, 0);
