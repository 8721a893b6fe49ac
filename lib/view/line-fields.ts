import {StringCache} from '../wire/string-cache.js';
import {INVALID, stringAt, type Walk} from '../wire/walk.js';

const [QUOTE, BACKSLASH, PERCENT, COMMA, OPEN, CLOSE, MINUS] = [
	0x22, 0x5c, 0x25, 0x2c, 0x7b, 0x7d, 0x2d,
] as const;

/** The members of a line that matter, each as where its value begins and ends; 0 where there is none. */
type ByteSpan = {start: number; end: number};

const emptySpan = (): ByteSpan => ({start: 0, end: 0});

/**
 * What one line of a log says, found by a walk over its bytes in the memory of a {@link Walk}: nothing is parsed. One object
 * for all lines, as there are millions.
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

	/** Reads the line between two positions, behind which there has to be a zero byte. Returns whether it is JSON. */
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

	/** Whether the message is an object, and so perhaps a message. */
	get isObject(): boolean {
		return this.bytes[this.message.start] === OPEN;
	}

	/** Notes where the members of an object are. Returns the position behind it and the space there, or BAD. */
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

	/** Notes where the value of a member is. Returns the position behind it, or BAD. */
	#readMember(at: number, keys: KeyTable): number {
		const walk = this.#walk;
		const {text} = walk;
		const keyEnd = text[at] === QUOTE ? walk.endOfString(at) : INVALID;
		if (keyEnd === INVALID) return INVALID;
		const span = keys.find(text, at, keyEnd, walk.hasEscape);
		const value = walk.afterColon(keyEnd);
		const end = value === INVALID ? INVALID : walk.endOfValue(value);
		// As with a parser, the last of several is the one that counts.
		if (span && end !== INVALID) {
			span.start = value;
			span.end = end;
		}
		return end;
	}

	/** The text of a string that is likely to come again; nothing where the value is no string. */
	text({start, end}: ByteSpan): string | undefined {
		if (start === 0 || this.bytes[start] !== QUOTE) return;
		if (end - start > MAX_TEXT_BYTES)
			return `${this.bytes.toString('utf8', start + 1, start + MAX_TEXT_BYTES)}…`;
		return this.#texts.get(this.bytes, start, end);
	}

	/** An id as it is written; nothing where there is none that could be one. */
	idText({start, end}: ByteSpan): string | undefined {
		const first = this.bytes[start];
		if (start === 0 || first === undefined || end - start > MAX_ID_BYTES) return;
		const isId = first === QUOTE || first === MINUS || (first >= 0x30 && first <= 0x39);
		return isId ? this.bytes.toString('latin1', start, end) : undefined;
	}

	/** The time as microseconds since the epoch; NaN where there is none. */
	get microseconds(): number {
		return parseTime(this.bytes, this.time.start, this.time.end);
	}

	/** How many bytes the data stands for. */
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

/** Longer ones are nobody's, and would only fill the memory. */
const MAX_ID_BYTES = 256;
const MAX_TEXT_BYTES = 256;

type KnownKey = {readonly name: Buffer; readonly span: ByteSpan};

/** The keys that matter, found by their lengths, first and last letters. */
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

	/** The key that is written between two positions that include its quotes. */
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

/** Reads `"2026-11-16T01:02:03.456789Z"`, in quotes. All but the date is read digit by digit: a date is worked out once. */
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

/** Times that somebody else has written. */
function parseOtherTime(bytes: Buffer, start: number, end: number): number {
	if (start === 0 || bytes[start] !== QUOTE || end - start > 64) return Number.NaN;
	return Date.parse(stringAt(bytes, start, end)) * 1000;
}
