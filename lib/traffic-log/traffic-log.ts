import {join} from 'node:path';
import type {MessageOrigin} from '../core/envelope.js';
import {appendBuffers, describeFileError, terminateLastLine, writeBuffers} from '../files/append-file.js';
import {isoTimeBytes, nowMicroseconds} from '../util/clock.js';
import {BufferList} from './buffer-list.js';
import {type LineEncoding, textEncoding} from './line-encoding.js';
import {logFileName} from './log-file-name.js';
import {splitByFile} from './records.js';

/** The destination of lines: one file, or a folder whose files are named by the time of their lines. */
export type LogDestination = {readonly file: string} | {readonly folder: string; readonly format: string};

/** A destination that is not a file. `write` resolves to the number of bytes written. */
export type LogStream = {readonly write: (buffers: readonly Buffer[]) => Promise<number>};

export type TrafficLogOptions = {
	readonly destination: LogDestination | LogStream;
	/** Milliseconds until buffered lines are written. */
	readonly flushMs?: number;
	readonly maxBytes?: number;
	/** Buffered bytes that are written without delay, to keep memory small under heavy traffic. */
	readonly flushThresholdBytes?: number;
	/** At the limit, `gap` drops and counts lines; `wait` applies backpressure. */
	readonly onFull?: 'gap' | 'wait';
	readonly encoding?: LineEncoding;
	/** Called when writing fails, and when it works again. */
	readonly onTrouble?: (message: string) => void;
};

/** The lines that are being written: in the form of the buffer, and ready to be written. */
type Batch = {readonly file: string; readonly queued: Buffer[]; readonly ready: Buffer[]};

/** New lines: their number, their size, and the time of the first one. */
type AddedLines = {readonly lines: number; readonly bytes: number; readonly time: number};

/** Backpressure ends this far below the limit, early enough to keep both sides busy. */
const RESUME_MARGIN_BYTES = 16 * 2 ** 20;

const TIME_BYTES = '{"time":"'.length + isoTimeBytes(0).length;

/** An NDJSON log in RawProx's format. It applies backpressure to traffic only if `onFull` is `wait`. */
export class TrafficLog {
	readonly #options: Required<TrafficLogOptions>;
	/** Buffered lines by file, in the order of time. */
	readonly #sections: Array<{readonly file: string; readonly lines: BufferList}> = [];
	/** The lines that are being written, or their rest after a failure. */
	#batch: Batch | undefined;
	#bufferedBytes = 0;
	#gap = {lines: 0, bytes: 0};
	#droppedBytes = 0;
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
	 * Adds a line: `{"time":"…` and these parts unchanged, from the quote after the time to the line feed. If
	 * `onFull` is `wait`, a full log applies backpressure to `origin`.
	 */
	add(parts: readonly Buffer[], origin?: MessageOrigin): void {
		const time = nowMicroseconds();
		if (this.#shouldDrop({lines: 1, bytes: totalBytes(parts), time}, origin)) return;
		this.#write(time, parts);
		this.#scheduleFlush();
	}

	/**
	 * Adds lines as records (see records.ts), which the encoding has to support. The log owns the block
	 * afterwards.
	 */
	addRecords(block: Buffer, origin?: MessageOrigin): void {
		for (const {file, lines, time, start, end} of splitByFile(block, at => this.#fileAt(at))) {
			const bytes = end - start;
			if (this.#shouldDrop({lines, bytes, time}, origin)) continue;
			this.#sectionFor(file).add(block.subarray(start, end));
			this.#bufferedBytes += bytes;
		}
		this.#scheduleFlush();
	}

	/** Counts lines that were dropped before they reached this log. */
	countDropped(lines: number, bytes: number): void {
		this.#gap = {lines: this.#gap.lines + lines, bytes: this.#gap.bytes + bytes};
		this.#droppedBytes += bytes;
		this.droppedLines += lines;
	}

	/** Writes all buffered lines, including those that arrive during the write. */
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

	/**
	 * Writes all buffered lines and ends backpressure. Resolves to the number of bytes that could not be
	 * written.
	 */
	async close(): Promise<number> {
		this.#writeGap(nowMicroseconds());
		await this.flush();
		clearTimeout(this.#timer);
		this.#openValves();
		// If lines cannot be written, the gap lines cannot be written either.
		return this.#bufferedBytes === 0 ? 0 : this.#bufferedBytes + this.#droppedBytes;
	}

	/** Whether lines exceed the limit and are dropped. Otherwise, a gap before them is recorded first. */
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

	/** Records the number of dropped lines at the position where they are missing. */
	#writeGap(time: number): void {
		const {lines, bytes} = this.#gap;
		if (lines === 0) return;
		this.#gap = {lines: 0, bytes: 0};
		const gap = Buffer.from(`","event":"gap","lines":${lines},"bytes":${bytes}}\n`);
		this.#write(time, [gap]);
	}

	#sectionFor(file: string): BufferList {
		const last = this.#sections.at(-1);
		if (last?.file === file) return last.lines;
		const lines = new BufferList();
		this.#sections.push({file, lines});
		return lines;
	}

	/** The file for lines of a time. Names contain no unit smaller than a second. */
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
			// New lines are added to the last section, so it stays.
			if (this.#sections.length > 1) this.#sections.shift();
		}
		if (!this.#batch) return;
		const {file, queued, ready} = this.#batch;
		let before = totalBytes(queued) + totalBytes(ready);
		const updateBufferedBytes = (): void => {
			const after = totalBytes(queued) + totalBytes(ready);
			this.#bufferedBytes += after - before;
			before = after;
			if (this.#bufferedBytes < this.#resumeBelowBytes) this.#openValves();
		};
		const refill = (): void => {
			updateBufferedBytes();
			if (queued.length > 0) ready.push(...this.#options.encoding.drain(queued));
		};
		try {
			await this.#append(file, ready, refill);
			this.#batch = undefined;
		} finally {
			updateBufferedBytes();
		}
	}

	/** Backpressure ends when less than this is buffered. */
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
		const {flushThresholdBytes, maxBytes} = this.#options;
		if (this.#bufferedBytes > Math.min(flushThresholdBytes, maxBytes) && !this.#isFailing) void this.flush();
		else this.#startFlushTimer();
	}

	#startFlushTimer(): void {
		this.#timer ??= setTimeout(() => void this.flush(), this.#options.flushMs);
		// While traffic waits for the log, this timer may be all that keeps the process running.
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
