import {ChunkBuffer} from './chunk-buffer.js';
import {BOM} from './line-splitter.js';
import {describeOversized, type Oversized} from './oversized.js';

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;

/** A name, an id or a time that is longer than that is passed over, as a field that nobody knows is. */
const MAX_FIELD = 4096;
/** Timers take no longer time. */
const MAX_RETRY_MS = 2 ** 31 - 1;

/** What an event says beside its data. */
type SseFields = {
	readonly event: string | undefined;
	readonly id: string | undefined;
	readonly retryMs: number | undefined;
};

/** One server-sent event. */
export class SseEvent implements SseFields {
	/** Its data with a line feed behind it, which is what a message is. Data of several lines has line feeds inside, too. */
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

	/** The data alone: empty where there was none. */
	get data(): Buffer {
		return this.line.subarray(0, -1);
	}
}

/** Where the parser puts what it finds, in the order in which it came. */
type SseSink = {
	/** An event that has data, an id or a time to come back after. */
	event(event: SseEvent): void;
	/** An event whose data is over the limit: its first bytes, and what they and the last ones tell of the message. */
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
 * Takes server-sent events out of bytes, as they come.
 *
 * Each byte is searched once and copied at most once; data that came in one piece is not copied at all. The chunks belong
 * to the parser then: a carriage return behind data is overwritten by a line feed. What has no empty line behind it when
 * the stream ends is no event.
 */
export class SseParser {
	readonly #sink: SseSink;
	readonly #data: ChunkBuffer;
	readonly #value = new ChunkBuffer(MAX_FIELD);
	/** How much of a byte order mark has been seen; undefined once it is known whether there is one. */
	#bomOffset: number | undefined = 0;
	#isAfterCr = false;
	/** The field that the present line is of, as soon as that is known, and what there is of its name until then. */
	#field: Field | undefined;
	#name: Buffer = EMPTY;
	/** Whether the colon was the last byte: one space behind it is no part of the value. */
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
		// Both are looked for only once they are passed: else chunks of many lines would be searched once a line.
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

	/** Takes a line, or as much of one as has come, and returns where the next begins. */
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

	/** Finds out whose field a line is, and returns where its value begins. */
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

	/** Steps over a byte order mark, which may come in pieces. */
	#skipBom(chunk: Buffer, matched: number): number {
		let at = 0;
		while (at < chunk.length && matched < BOM.length && chunk[at] === BOM[matched]) {
			at++;
			matched++;
		}
		this.#bomOffset = matched < BOM.length && at === chunk.length ? matched : undefined;
		// A part of a mark is the beginning of a name that nobody knows.
		if (this.#bomOffset === undefined && matched > 0 && matched < BOM.length) this.#field = 'other';
		return at;
	}
}

/** The place of something that was not found is behind everything. */
const orInfinity = (found: number): number => (found === -1 ? Number.POSITIVE_INFINITY : found);

const fieldOf = (name: Buffer): Field => fieldNames.get(name.toString('latin1')) ?? 'other';

/** An event to be written. */
export type SseEventInit = {
	readonly event?: string;
	readonly id?: string;
	readonly retryMs?: number;
	readonly data: Buffer;
};

const DATA = Buffer.from('data: ');
const END = Buffer.from('\n\n');

/** The bytes of one event. Data that has ends of lines in it is written as several lines, which its reader joins again. */
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
