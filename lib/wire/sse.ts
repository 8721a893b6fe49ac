import {ChunkBuffer} from './chunk-buffer.js';
import {BOM} from './line-splitter.js';
import {describeOversized, type Oversized} from './oversized.js';

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;

/** A longer value of `event`, `id` or `retry` is ignored, like an unknown field. */
const MAX_FIELD = 4096;
/** The longest delay of a timer. */
const MAX_RETRY_MS = 2 ** 31 - 1;

/** The fields of an event other than its data. */
type SseFields = {
	readonly event: string | undefined;
	readonly id: string | undefined;
	readonly retryMs: number | undefined;
};

export class SseEvent implements SseFields {
	/** The data with a line feed at its end, as in a message. Multi-line data contains further line feeds. */
	readonly line: Buffer;
	readonly event: string | undefined;
	readonly id: string | undefined;
	readonly retryMs: number | undefined;

	constructor(line: Buffer, {event, id, retryMs}: SseFields) {
		this.line = line;
		this.event = event;
		this.id = id;
		this.retryMs = retryMs;
	}

	/** The data without the line feed. Empty if there was none. */
	get data(): Buffer {
		return this.line.subarray(0, -1);
	}
}

type SseSink = {
	/** An event that has data, an id or a retry time. */
	event(event: SseEvent): void;
	/** An event with data over the limit: its first bytes, and what was recognized of the message. */
	tooLarge(start: Buffer, oversized: Oversized, fields: SseFields): void;
};

type Field = 'data' | 'event' | 'id' | 'retry' | 'other';
const fieldNames = new Map<string, Field>([
	['data', 'data'],
	['event', 'event'],
	['id', 'id'],
	['retry', 'retry'],
]);
const MAX_NAME = 'event'.length;
const EMPTY: Buffer = Buffer.alloc(0);
const EMPTY_LINE = Buffer.from('\n');

/**
 * An incremental parser for server-sent events.
 *
 * Each byte is searched once and copied at most once; data that is received in one chunk is not copied. The
 * parser takes ownership of the chunks: it overwrites the line end after data by a line feed. An event
 * without an empty line at the end of the stream is dropped.
 */
export class SseParser {
	readonly #sink: SseSink;
	readonly #data: ChunkBuffer;
	readonly #value = new ChunkBuffer(MAX_FIELD);
	/** The number of bytes matched of a byte order mark; undefined once it is complete or absent. */
	#bomOffset: number | undefined = 0;
	#isAfterCr = false;
	/** The field of the current line once its name is complete, and the part of the name read before that. */
	#field: Field | undefined;
	#name: Buffer = EMPTY;
	/** Whether the last byte was the colon. One space after it is not part of the value. */
	#isAfterColon = false;
	#event: string | undefined;
	#id: string | undefined;
	#retryMs: number | undefined;

	constructor(maxBytes: number, sink: SseSink) {
		this.#data = new ChunkBuffer(maxBytes + '\n'.length);
		this.#sink = sink;
	}

	push(chunk: Buffer): void {
		let at = this.#bomOffset === undefined ? 0 : this.#skipBom(chunk, this.#bomOffset);
		// Each is searched again only after it was passed. Otherwise chunks of many lines would be searched
		// once per line.
		let [lf, cr] = [-1, -1];
		while (at < chunk.length) {
			if (this.#isAfterCr && chunk[at] === LF) at++;
			this.#isAfterCr = false;
			if (lf < at) lf = orInfinity(chunk.indexOf(LF, at));
			if (cr < at) cr = orInfinity(chunk.indexOf(CR, at));
			const end = Math.min(lf, cr);
			at = this.#readLine(chunk, at, Math.min(end, chunk.length), end < chunk.length);
			this.#isAfterCr = cr < at;
		}
	}

	/** Reads a line or a part of one. Returns the position after it. */
	#readLine(chunk: Buffer, start: number, end: number, isWhole: boolean): number {
		let at = this.#field === undefined ? this.#readName(chunk, start, end) : start;
		if (this.#isAfterColon && at < end) {
			this.#isAfterColon = false;
			if (chunk[at] === SPACE) at++;
		}
		if (this.#field === 'data') {
			if (isWhole) chunk[end] = LF;
			this.#data.add(chunk.subarray(at, isWhole ? end + 1 : end));
		} else if (this.#field !== undefined && this.#field !== 'other' && at < end)
			this.#value.add(chunk.subarray(at, end));
		if (!isWhole) return end;
		this.#endLine();
		return end + 1;
	}

	/** Reads the field name of a line. Returns the position of its value. */
	#readName(chunk: Buffer, start: number, end: number): number {
		const colon = chunk.subarray(start, Math.min(end, start + MAX_NAME + 1)).indexOf(COLON);
		const nameEnd = colon === -1 ? end : start + colon;
		if (this.#name.length + nameEnd - start > MAX_NAME) {
			this.#field = 'other';
			return nameEnd;
		}
		const part = chunk.subarray(start, nameEnd);
		this.#name = this.#name.length === 0 ? part : Buffer.concat([this.#name, part]);
		if (colon === -1) return nameEnd;
		this.#field = fieldOf(this.#name);
		this.#isAfterColon = true;
		return nameEnd + 1;
	}

	#endLine(): void {
		if (this.#field === undefined && this.#name.length === 0) {
			this.#finish();
			return;
		}
		// A name without a colon is a field with an empty value.
		const field = this.#field ?? fieldOf(this.#name);
		if (this.#field === undefined && field === 'data') this.#data.add(EMPTY_LINE);
		else if (!this.#value.isTooLarge) this.#set(field);
		this.#value.clear();
		this.#field = undefined;
		this.#name = EMPTY;
		this.#isAfterColon = false;
	}

	#set(field: Field): void {
		const text = this.#value.isEmpty ? '' : this.#value.joined().toString();
		if (field === 'event') this.#event = text || undefined;
		else if (field === 'id' && !text.includes('\0')) this.#id = text;
		else if (field === 'retry' && /^\d+$/.test(text)) this.#retryMs = Math.min(Number(text), MAX_RETRY_MS);
	}

	#finish(): void {
		const fields = {event: this.#event, id: this.#id, retryMs: this.#retryMs};
		const data = this.#data;
		if (data.isTooLarge) this.#sink.tooLarge(data.start, describeOversized(data.start, data.end), fields);
		else if (!data.isEmpty) this.#sink.event(new SseEvent(data.joined(), fields));
		else if (fields.id !== undefined || fields.retryMs !== undefined)
			this.#sink.event(new SseEvent(EMPTY_LINE, fields));
		data.clear();
		this.#event = undefined;
		this.#id = undefined;
		this.#retryMs = undefined;
	}

	/** Skips a byte order mark, which may be split across chunks. */
	#skipBom(chunk: Buffer, matched: number): number {
		let at = 0;
		while (at < chunk.length && matched < BOM.length && chunk[at] === BOM[matched]) {
			at++;
			matched++;
		}
		this.#bomOffset = matched < BOM.length && at === chunk.length ? matched : undefined;
		// A partial mark is the start of an unknown field name.
		if (this.#bomOffset === undefined && matched > 0 && matched < BOM.length) this.#field = 'other';
		return at;
	}
}

const orInfinity = (index: number): number => (index === -1 ? Number.POSITIVE_INFINITY : index);

const fieldOf = (name: Buffer): Field => fieldNames.get(name.toString('latin1')) ?? 'other';

export type SseEventInit = {
	readonly event?: string;
	readonly id?: string;
	readonly retryMs?: number;
	readonly data: Buffer;
};

const DATA = Buffer.from('data: ');
const END = Buffer.from('\n\n');

/**
 * Serializes an event. Data with line breaks is written as several `data` lines, which the reader joins
 * again.
 */
export function formatSseEvent({event, id, retryMs, data}: SseEventInit): Buffer {
	const head = [
		event === undefined ? '' : `event: ${withoutLineBreaks(event)}\n`,
		id === undefined ? '' : `id: ${withoutLineBreaks(id)}\n`,
		retryMs === undefined ? '' : `retry: ${retryMs}\n`,
	].join('');
	const isOneLine = !data.includes(LF) && !data.includes(CR);
	const text = isOneLine
		? data
		: Buffer.from(data.toString('latin1').replaceAll(/\r\n?|\n/g, '\ndata: '), 'latin1');
	return Buffer.concat([Buffer.from(head), DATA, text, END]);
}

const withoutLineBreaks = (text: string): string => text.replaceAll(/[\r\n\0]/g, ' ');
