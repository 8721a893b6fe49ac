import {StringCache} from '../wire/string-cache.js';
import {INVALID, stringAt, type Walk} from '../wire/walk.js';

const [QUOTE, BACKSLASH, PERCENT, COMMA, OPEN, CLOSE, MINUS] = [
	0x22, 0x5c, 0x25, 0x2c, 0x7b, 0x7d, 0x2d,
] as const;

/** The byte range of a value; 0 if absent. */
type ByteSpan = {start: number; end: number};

const emptySpan = (): ByteSpan => ({start: 0, end: 0});

/**
 * Finds the relevant members of a log line by walking over its bytes in the memory of a {@link Walk}, without
 * parsing. One instance is reused for millions of lines.
 */
export class LineFields {
	readonly #walk: Walk;
	readonly #texts = new StringCache();
	readonly time = emptySpan();
	readonly conn = emptySpan();
	readonly event = emptySpan();
	readonly data = emptySpan();
	readonly message = emptySpan();
	readonly from = emptySpan();
	readonly to = emptySpan();
	readonly side = emptySpan();
	readonly id = emptySpan();
	readonly method = emptySpan();
	readonly result = emptySpan();
	readonly error = emptySpan();
	readonly #lineKeys: KeyTable;
	readonly #messageKeys: KeyTable;
	readonly #spans: readonly ByteSpan[];

	constructor(walk: Walk) {
		this.#walk = walk;
		const {time, conn, event, data, message, from, to, side, id, method, result, error} = this;
		const line = {time, ConnID: conn, event, data, message, from, to, side};
		const members = {id, method, result, error};
		this.#lineKeys = new KeyTable(line);
		this.#messageKeys = new KeyTable(members);
		this.#spans = [...Object.values(line), ...Object.values(members)];
	}

	get bytes(): Buffer {
		return this.#walk.text;
	}

	/**
	 * Scans the line between two positions. It must be followed by a zero byte. Returns whether it is valid
	 * JSON.
	 */
	read(start: number, end: number): boolean {
		for (const span of this.#spans) {
			span.start = 0;
			span.end = 0;
		}
		if (this.#readMembers(this.#walk.skipWhitespace(start), this.#lineKeys) !== end) return false;
		const {message} = this;
		if (message.start !== 0 && this.bytes[message.start] === OPEN)
			this.#readMembers(message.start, this.#messageKeys);
		return true;
	}

	/** Whether the message is an object, and thus possibly a JSON-RPC message. */
	get isObject(): boolean {
		return this.bytes[this.message.start] === OPEN;
	}

	/**
	 * Records the value ranges of the members of an object. Returns the position after it and after following
	 * whitespace, or INVALID.
	 */
	#readMembers(start: number, keys: KeyTable): number {
		const walk = this.#walk;
		const {text} = walk;
		if (text[start] !== OPEN) return INVALID;
		let at = walk.skipWhitespace(start + 1);
		if (text[at] === CLOSE) return walk.skipWhitespace(at + 1);
		for (;;) {
			const end = this.#readMember(at, keys);
			if (end === INVALID) return INVALID;
			at = walk.skipWhitespace(end);
			if (text[at] === CLOSE) return walk.skipWhitespace(at + 1);
			if (text[at] !== COMMA) return INVALID;
			at = walk.skipWhitespace(at + 1);
		}
	}

	/** Records the value range of one member. Returns the position after it, or INVALID. */
	#readMember(at: number, keys: KeyTable): number {
		const walk = this.#walk;
		const {text} = walk;
		const keyEnd = text[at] === QUOTE ? walk.endOfString(at) : INVALID;
		if (keyEnd === INVALID) return INVALID;
		const span = keys.find(text, at, keyEnd, walk.hasEscape);
		const value = walk.afterColon(keyEnd);
		const end = value === INVALID ? INVALID : walk.endOfValue(value);
		// As in a parser, the last of several duplicate keys wins.
		if (span && end !== INVALID) {
			span.start = value;
			span.end = end;
		}
		return end;
	}

	/** Returns the text of a string, cached because texts repeat. Returns undefined for other values. */
	text({start, end}: ByteSpan): string | undefined {
		if (start === 0 || this.bytes[start] !== QUOTE) return;
		if (end - start > MAX_TEXT_BYTES)
			return `${this.bytes.toString('utf8', start + 1, start + MAX_TEXT_BYTES)}…`;
		return this.#texts.get(this.bytes, start, end);
	}

	/** Returns the source text of a string or number id, or undefined. */
	idText({start, end}: ByteSpan): string | undefined {
		const first = this.bytes[start];
		if (start === 0 || first === undefined || end - start > MAX_ID_BYTES) return;
		const isId = first === QUOTE || first === MINUS || (first >= 0x30 && first <= 0x39);
		return isId ? this.bytes.toString('latin1', start, end) : undefined;
	}

	/** Microseconds since the epoch; NaN if the time is missing or invalid. */
	get microseconds(): number {
		return parseTime(this.bytes, this.time.start, this.time.end);
	}

	/** The size of the decoded data in bytes. */
	get dataSize(): number {
		const {start, end} = this.data;
		const {bytes} = this;
		let size = end - start - 2;
		for (let at = start + 1; at < end - 1; at++) {
			const byte = bytes[at];
			if (byte === PERCENT) size -= 2;
			else if (byte === BACKSLASH) {
				size--;
				at++;
			}
		}
		return size;
	}
}

/** Limits memory. Real ids and texts are shorter. */
const MAX_ID_BYTES = 256;
const MAX_TEXT_BYTES = 256;

type KnownKey = {readonly name: Buffer; readonly span: ByteSpan};

/** Finds the relevant keys by length and by first and last byte. */
class KeyTable {
	readonly #byNumber: ReadonlyMap<number, KnownKey>;
	readonly #byName: ReadonlyMap<string, ByteSpan>;

	constructor(spans: {readonly [name: string]: ByteSpan}) {
		const keys = Object.entries(spans).map(
			([name, found]): KnownKey => ({name: Buffer.from(name), span: found}),
		);
		this.#byNumber = new Map(keys.map(key => [keyNumber(key.name, 0, key.name.length), key]));
		this.#byName = new Map(Object.entries(spans));
	}

	/** Finds the key between two positions, which include its quotes. */
	find(bytes: Buffer, start: number, end: number, hasEscape: boolean): ByteSpan | undefined {
		if (hasEscape)
			return end - start > MAX_TEXT_BYTES ? undefined : this.#byName.get(stringAt(bytes, start, end));
		const key = this.#byNumber.get(keyNumber(bytes, start + 1, end - 1));
		if (!key) return;
		for (let at = 1; at < key.name.length; at++) if (key.name[at] !== bytes[start + 1 + at]) return;
		return key.span;
	}
}

const keyNumber = (bytes: Uint8Array, start: number, end: number): number =>
	((end - start) << 16) | ((bytes[start] as number) << 8) | (bytes[end - 1] as number);

const DAY_SECONDS = 86_400;
let cachedDate = -1;
let cachedDateSeconds = 0;

/** Parses a time like `"2026-11-16T01:02:03.456789Z"`, with its quotes. The seconds of a date are cached. */
function parseTime(bytes: Buffer, start: number, end: number): number {
	if (end - start !== 29 || bytes[start + 11] !== 0x54 || bytes[start + 27] !== 0x5a)
		return parseOtherTime(bytes, start, end);
	const digits = (at: number, count: number): number => {
		let value = 0;
		for (let digit = start + at; digit < start + at + count; digit++)
			value = value * 10 + (bytes[digit] as number) - 0x30;
		return value;
	};
	const date = digits(1, 4) * 10_000 + digits(6, 2) * 100 + digits(9, 2);
	if (date !== cachedDate) {
		cachedDate = date;
		cachedDateSeconds = Date.parse(bytes.toString('latin1', start + 1, start + 11)) / 1000;
	}
	const seconds = digits(12, 2) * 3600 + digits(15, 2) * 60 + digits(18, 2);
	return seconds <= DAY_SECONDS ? (cachedDateSeconds + seconds) * 1e6 + digits(21, 6) : Number.NaN;
}

/** Parses times in other formats, from logs not written by bridge. */
function parseOtherTime(bytes: Buffer, start: number, end: number): number {
	if (start === 0 || bytes[start] !== QUOTE || end - start > 64) return Number.NaN;
	return Date.parse(stringAt(bytes, start, end)) * 1000;
}
