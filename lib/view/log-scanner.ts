import {BOM} from '../wire/line-splitter.js';
import type {LogBytes} from './log-bytes.js';
import type {LogIndexer} from './log-indexer.js';

const LF = 0x0a;
const CR = 0x0d;
/** The first read is a small one, so that there is something to see at once. */
const FIRST_READ_BYTES = 2 ** 18;
const READ_BYTES = 2 ** 20;
/** Of a longer line only the beginning is looked at: no message of bridge's is as long. */
const MAX_LINE_BYTES = 96 * 2 ** 20;
const LONG_LINE_START_BYTES = 4096;

export type LogScannerOptions = {
	readonly bytes: LogBytes;
	readonly indexer: LogIndexer;
	/** How much is read at a time. */
	readonly readBytes?: number;
	readonly maxLine?: number;
};

/** Goes through the bytes of a log, read by read, and cuts them into lines for the indexer. */
export class LogScanner {
	readonly #bytes: LogBytes;
	readonly #indexer: LogIndexer;
	readonly #readBytes: number;
	readonly #maxLine: number;
	/** Where the next read begins. */
	#position = 0;
	/** What lies in the indexer's memory of a line without an end, and how much of that was searched for one. */
	#partialBytes = 0;
	/** Where a line began that is too long to be held; its beginning is. */
	#longLineStart: number | undefined;

	constructor({bytes, indexer, readBytes = READ_BYTES, maxLine = MAX_LINE_BYTES}: LogScannerOptions) {
		this.#bytes = bytes;
		this.#indexer = indexer;
		this.#readBytes = readBytes;
		this.#maxLine = maxLine;
	}

	/** How far it has come. */
	get position(): number {
		return this.#position;
	}

	/** Bytes at the end that are no line yet. */
	get tailBytes(): number {
		return this.#longLineStart === undefined ? this.#partialBytes : this.#position - this.#longLineStart;
	}

	/** Reads some more. Returns false where there is nothing at present. */
	step(): boolean {
		const indexer = this.#indexer;
		if (indexer.isFull) return false;
		const wanted = this.#position === 0 ? Math.min(FIRST_READ_BYTES, this.#readBytes) : this.#readBytes;
		// Behind the text there is room for the zero byte that ends the last line.
		indexer.reserve(this.#partialBytes + wanted + 1);
		const fileEnd = this.#bytes.fileEnd(this.#position);
		const bytesRead = this.#bytes.read(indexer.text, this.#partialBytes, wanted, this.#position);
		if (bytesRead === 0) {
			this.#addUnterminatedLine();
			return false;
		}
		this.#position += bytesRead;
		this.#splitLines(this.#partialBytes, this.#partialBytes + bytesRead);
		// A file ends its last line, whether that says so or not.
		if (this.#position === fileEnd) this.#endLine();
		return true;
	}

	/** Makes lines of what has been read, and moves the rest to the beginning. */
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

	/** What is held moves into smaller memory, where a long line has left a lot. */
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

	/** The last line of all may be without an end, and whole nevertheless. */
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

	/** A line of which only the beginning is there. */
	#addLongLine(lineEnd: number): void {
		const from = this.#longLineStart ?? 0;
		this.#longLineStart = undefined;
		this.#indexer.add(0, LONG_LINE_START_BYTES, from, lineEnd - from);
	}
}

/** Where the line ends; Buffer.indexOf would go on behind the end of what was read. */
function indexOf(text: Buffer, from: number, end: number): number {
	const found = text.indexOf(LF, from);
	return found < end ? found : -1;
}

/** Some programs begin files with a byte order mark. */
const hasByteOrderMark = (text: Buffer, at: number): boolean =>
	text[at] === BOM[0] && text[at + 1] === BOM[1] && text[at + 2] === BOM[2];

function isBlank(text: Buffer, start: number, end: number): boolean {
	for (let at = start; at < end; at++) if ((text[at] as number) > 0x20) return false;
	return true;
}
