import {BOM, type Cuts, type Cutter} from './lines.js';
import {asLine} from './one-line.js';
import {Pieces} from './pieces.js';

const LF = 0x0a;
/** A line of a header is short: what has no end after so many bytes is none. */
const MAX_HEADER_LINE = 8192;

/** Messages behind `Content-Length` headers, as the Language Server Protocol has them. */
export function contentLength(maxBytes: number, cuts: Cuts): Cutter {
	const body = new Pieces(maxBytes);
	const header = new Header(text => cuts.message(asLine(text)));
	/** How much of the body is yet to come. */
	let missing = 0;

	const finish = (): void => {
		if (body.isTooLarge) cuts.tooLarge(body.start, body.end);
		else if (!body.isEmpty) cuts.message(asLine(body.joined()));
		body.clear();
	};
	/** Takes what a chunk has from `start` on of a header, and returns where the rest begins. */
	const readHeader = (chunk: Buffer, start: number): number => {
		const at = chunk.indexOf(LF, start);
		const end = at === -1 ? chunk.length : at + 1;
		missing = header.read(chunk.subarray(start, end), at !== -1) ?? 0;
		return end;
	};
	const readBody = (chunk: Buffer, start: number): number => {
		const end = Math.min(chunk.length, start + missing);
		body.add(chunk.subarray(start, end));
		missing -= end - start;
		if (missing === 0) finish();
		return end;
	};
	return {
		push(chunk) {
			for (let at = 0; at < chunk.length; ) at = missing > 0 ? readBody(chunk, at) : readHeader(chunk, at);
		},
		end() {
			header.end();
			finish();
		},
	};
}

/** The header before a message. What is none is refused: it goes on as a message that is no JSON. */
class Header {
	readonly #line = new Pieces(MAX_HEADER_LINE);
	readonly #refuse: (text: Buffer) => void;
	#isFirstLine: boolean;
	/** The length that it has told, or else the last of its lines. */
	#length: number | undefined;
	#other: string | undefined;

	constructor(refuse: (text: Buffer) => void) {
		this.#refuse = refuse;
		this.#isFirstLine = true;
	}

	/** Takes a line, or a part of one. Returns the length of the message with the empty line that ends the header. */
	read(part: Buffer, isLineEnd: boolean): number | undefined {
		this.#line.add(part);
		if (!isLineEnd) return;
		const length = this.#line.isTooLarge ? undefined : this.#understand(this.#line.joined());
		if (this.#line.isTooLarge) this.#refuse(this.#line.start);
		this.#line.clear();
		return length;
	}

	end(): void {
		if (!this.#line.isEmpty) this.read(Buffer.alloc(0), true);
		if (this.#other !== undefined) this.#refuse(Buffer.from(this.#other, 'latin1'));
	}

	#understand(line: Buffer): number | undefined {
		const hasMark = this.#isFirstLine && line.subarray(0, BOM.length).equals(BOM);
		this.#isFirstLine = false;
		const text = line.toString('latin1', hasMark ? BOM.length : 0).trim();
		if (text === '') return this.#finish();
		const length = /^content-length:[ \t]*(\d{1,15})$/i.exec(text)?.[1];
		if (length !== undefined) this.#length = Number(length);
		else if (/^[\w-]+:/.test(text)) this.#other = text;
		else this.#refuse(Buffer.from(text, 'latin1'));
		return;
	}

	#finish(): number | undefined {
		const length = this.#length;
		if (length === undefined && this.#other !== undefined) this.#refuse(Buffer.from(this.#other, 'latin1'));
		this.#length = undefined;
		this.#other = undefined;
		return length;
	}
}
