import {ChunkBuffer} from './chunk-buffer.js';
import {BOM, type MessageSplitter, type SplitterSink} from './line-splitter.js';
import {toOneLine} from './one-line.js';

const LF = 0x0a;
/** Longer header lines are rejected. */
const MAX_HEADER_LINE = 8192;

/** Splits messages with `Content-Length` headers, as in the Language Server Protocol. */
export function contentLengthSplitter(maxBytes: number, sink: SplitterSink): MessageSplitter {
	const body = new ChunkBuffer(maxBytes);
	const header = new HeaderReader(text => sink.message(toOneLine(text)));
	/** Bytes of the body that were not received yet. */
	let remaining = 0;

	const finish = (): void => {
		if (body.isTooLarge) sink.tooLarge(body.start, body.end);
		else if (!body.isEmpty) sink.message(toOneLine(body.joined()));
		body.clear();
	};
	/** Reads header bytes from `start` on. Returns the position after them. */
	const readHeader = (chunk: Buffer, start: number): number => {
		const at = chunk.indexOf(LF, start);
		const end = at === -1 ? chunk.length : at + 1;
		remaining = header.read(chunk.subarray(start, end), at !== -1) ?? 0;
		return end;
	};
	const readBody = (chunk: Buffer, start: number): number => {
		const end = Math.min(chunk.length, start + remaining);
		body.add(chunk.subarray(start, end));
		remaining -= end - start;
		if (remaining === 0) finish();
		return end;
	};
	return {
		push(chunk) {
			for (let at = 0; at < chunk.length; ) at = remaining > 0 ? readBody(chunk, at) : readHeader(chunk, at);
		},
		end() {
			header.end();
			finish();
		},
	};
}

/** Parses the header before a message. Invalid lines are passed to `reject` as messages that are not JSON. */
class HeaderReader {
	readonly #line = new ChunkBuffer(MAX_HEADER_LINE);
	readonly #reject: (text: Buffer) => void;
	#isFirstLine: boolean;
	/** The value of Content-Length, and the last line with another field. */
	#length: number | undefined;
	#unknownField: string | undefined;

	constructor(reject: (text: Buffer) => void) {
		this.#reject = reject;
		this.#isFirstLine = true;
	}

	/**
	 * Reads a line or a part of one. Returns the message length after the empty line that ends the header.
	 */
	read(part: Buffer, isLineEnd: boolean): number | undefined {
		this.#line.add(part);
		if (!isLineEnd) return;
		const length = this.#line.isTooLarge ? undefined : this.#parseLine(this.#line.joined());
		if (this.#line.isTooLarge) this.#reject(this.#line.start);
		this.#line.clear();
		return length;
	}

	end(): void {
		if (!this.#line.isEmpty) this.read(Buffer.alloc(0), true);
		if (this.#unknownField !== undefined) this.#reject(Buffer.from(this.#unknownField, 'latin1'));
	}

	#parseLine(line: Buffer): number | undefined {
		const hasBom = this.#isFirstLine && line.subarray(0, BOM.length).equals(BOM);
		this.#isFirstLine = false;
		const text = line.toString('latin1', hasBom ? BOM.length : 0).trim();
		if (text === '') return this.#finish();
		const length = /^content-length:[ \t]*(\d{1,15})$/i.exec(text)?.[1];
		if (length !== undefined) this.#length = Number(length);
		else if (/^[\w-]+:/.test(text)) this.#unknownField = text;
		else this.#reject(Buffer.from(text, 'latin1'));
		return;
	}

	#finish(): number | undefined {
		const length = this.#length;
		if (length === undefined && this.#unknownField !== undefined)
			this.#reject(Buffer.from(this.#unknownField, 'latin1'));
		this.#length = undefined;
		this.#unknownField = undefined;
		return length;
	}
}
