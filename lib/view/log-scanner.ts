import {BOM} from '../wire/line-splitter.js';
import type {LogBytes} from './log-bytes.js';
import type {LogIndexer} from './log-indexer.js';

const LF = 0x0a;
const CR = 0x0d;
/** The first read is small, so that the first rows appear at once. */
const FIRST_READ_BYTES = 2 ** 18;
const READ_BYTES = 2 ** 20;
/** Of longer lines, only the beginning is indexed. Messages of bridge are shorter. */
const MAX_LINE_BYTES = 96 * 2 ** 20;
const LONG_LINE_START_BYTES = 4096;

export type LogScannerOptions = {
	readonly bytes: LogBytes;
	readonly indexer: LogIndexer;
	/** Bytes per read. */
	readonly readBytes?: number;
	readonly maxLine?: number;
};

/** Reads the bytes of a log in blocks and splits them into lines for the indexer. */
export class LogScanner {
	readonly #bytes: LogBytes;
	readonly #indexer: LogIndexer;
	readonly #readBytes: number;
	readonly #maxLine: number;
	/** The position of the next read. */
	#position = 0;
	/** Bytes of the incomplete line in the indexer's memory. They contain no line ending. */
	#partialBytes = 0;
	/** The start of a line that exceeds the limit. Only its beginning is in memory. */
	#longLineStart: number | undefined;

	constructor({bytes, indexer, readBytes = READ_BYTES, maxLine = MAX_LINE_BYTES}: LogScannerOptions) {
		this.#bytes = bytes;
		this.#indexer = indexer;
		this.#readBytes = readBytes;
		this.#maxLine = maxLine;
	}

	/** The number of bytes read. */
	get position(): number {
		return this.#position;
	}

	/** Bytes of an incomplete line at the end. */
	get tailBytes(): number {
		return this.#longLineStart === undefined ? this.#partialBytes : this.#position - this.#longLineStart;
	}

	/** Reads one block. Returns false if there is nothing to read at present. */
	step(): boolean {
		const indexer = this.#indexer;
		if (indexer.isFull) return false;
		const size = this.#position === 0 ? Math.min(FIRST_READ_BYTES, this.#readBytes) : this.#readBytes;
		// Reserves one more byte for the zero that terminates the last line.
		indexer.reserve(this.#partialBytes + size + 1);
		const fileEnd = this.#bytes.fileEnd(this.#position);
		const bytesRead = this.#bytes.read(indexer.text, this.#partialBytes, size, this.#position);
		if (bytesRead === 0) {
			this.#addUnterminatedLine();
			return false;
		}
		this.#position += bytesRead;
		this.#splitLines(this.#partialBytes, this.#partialBytes + bytesRead);
		// The end of a file also ends its last line.
		if (this.#position === fileEnd) this.#endLine();
		return true;
	}

	/** Splits the block into lines and moves the rest to the beginning. */
	#splitLines(searchFrom: number, end: number): void {
		const {text} = this.#indexer;
		const base = this.#position - end;
		let start = 0;
		let lf = indexOf(text, searchFrom, end);
		if (this.#longLineStart !== undefined && lf !== -1) {
			this.#addLongLine(base + lf);
			start = lf + 1;
			lf = indexOf(text, start, end);
		}
		while (lf !== -1) {
			this.#add(start, lf, base + start);
			start = lf + 1;
			lf = indexOf(text, start, end);
		}
		this.#retainPartialLine(start, end);
	}

	#retainPartialLine(start: number, end: number): void {
		const indexer = this.#indexer;
		const {text} = indexer;
		if (this.#longLineStart !== undefined) {
			this.#partialBytes = LONG_LINE_START_BYTES;
			return;
		}
		this.#partialBytes = end - start;
		if (start > 0) {
			text.copyWithin(0, start, end);
			if (this.#partialBytes < this.#readBytes) this.#shrink(text);
		}
		if (this.#partialBytes <= this.#maxLine) return;
		this.#longLineStart = this.#position - this.#partialBytes;
		const beginning = Buffer.from(text.subarray(0, LONG_LINE_START_BYTES));
		this.#partialBytes = LONG_LINE_START_BYTES;
		this.#shrink(beginning);
	}

	/** Moves the incomplete line to smaller memory after a long line. */
	#shrink(text: Buffer): void {
		this.#indexer.shrink();
		if (this.#indexer.text === text) return;
		this.#indexer.reserve(this.#partialBytes + 1);
		text.copy(this.#indexer.text, 0, 0, this.#partialBytes);
	}

	#endLine(): void {
		if (this.#longLineStart !== undefined) this.#addLongLine(this.#position);
		else if (this.#partialBytes > 0) this.#add(0, this.#partialBytes, this.#position - this.#partialBytes);
		this.#partialBytes = 0;
	}

	/** Adds the last line if it is complete JSON without a line ending. */
	#addUnterminatedLine(): void {
		if (this.#partialBytes === 0 || this.#longLineStart !== undefined) return;
		if (this.#indexer.isLine(0, this.#partialBytes)) this.#endLine();
	}

	#add(start: number, end: number, offset: number): void {
		const {text} = this.#indexer;
		const last = end > start && text[end - 1] === CR ? end - 1 : end;
		const markBytes = hasByteOrderMark(text, start) ? BOM.length : 0;
		if (!isBlank(text, start, last)) this.#indexer.add(start + markBytes, last, offset + markBytes);
	}

	/** Adds a long line of which only the beginning was kept. */
	#addLongLine(lineEnd: number): void {
		const from = this.#longLineStart ?? 0;
		this.#longLineStart = undefined;
		this.#indexer.add(0, LONG_LINE_START_BYTES, from, lineEnd - from);
	}
}

/** Finds the line ending. Buffer.indexOf may find one after the end of the block. */
function indexOf(text: Buffer, from: number, end: number): number {
	const found = text.indexOf(LF, from);
	return found < end ? found : -1;
}

const hasByteOrderMark = (text: Buffer, at: number): boolean =>
	text[at] === BOM[0] && text[at + 1] === BOM[1] && text[at + 2] === BOM[2];

function isBlank(text: Buffer, start: number, end: number): boolean {
	for (let at = start; at < end; at++) if ((text[at] as number) > 0x20) return false;
	return true;
}
