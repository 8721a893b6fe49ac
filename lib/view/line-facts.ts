import {FrequentTexts} from '../wire/frequent-texts.js';
import {BAD, textOf, type Walk} from '../wire/walk.js';

const [QUOTE, BACKSLASH, PERCENT, COMMA, OPEN, CLOSE, MINUS] = [
	0x22, 0x5c, 0x25, 0x2c, 0x7b, 0x7d, 0x2d,
] as const;

/** The members of a line that matter, each as where its value begins and ends; 0 where there is none. */
export type Span = {start: number; end: number};

const span = (): Span => ({start: 0, end: 0});

/**
 * What one line of a log says, found by a walk over its bytes in the memory of a {@link Walk}: nothing is parsed. One object
 * for all lines, as there are millions.
 */
export class LineFacts {
	readonly #walk: Walk;
	readonly #names = new FrequentTexts();
	readonly time = span();
	readonly conn = span();
	readonly event = span();
	readonly data = span();
	readonly message = span();
	readonly from = span();
	readonly to = span();
	readonly side = span();
	readonly id = span();
	readonly method = span();
	readonly result = span();
	readonly error = span();
	readonly #ofLine: Keys;
	readonly #ofMessage: Keys;
	readonly #all: readonly Span[];

	constructor(walk: Walk) {
		this.#walk = walk;
		const {time, conn, event, data, message, from, to, side, id, method, result, error} = this;
		const line = {time, ConnID: conn, event, data, message, from, to, side};
		const members = {id, method, result, error};
		this.#ofLine = new Keys(line);
		this.#ofMessage = new Keys(members);
		this.#all = [...Object.values(line), ...Object.values(members)];
	}

	get bytes(): Buffer {
		return this.#walk.text;
	}

	/** Reads the line between two positions, behind which there has to be a zero byte. Returns whether it is JSON. */
	read(start: number, end: number): boolean {
		for (const found of this.#all) {
			found.start = 0;
			found.end = 0;
		}
		if (this.#members(this.#walk.skipSpace(start), this.#ofLine) !== end) return false;
		const {message} = this;
		if (message.start !== 0 && this.bytes[message.start] === OPEN)
			this.#members(message.start, this.#ofMessage);
		return true;
	}

	/** Whether the message is an object, and so perhaps a message. */
	get isObject(): boolean {
		return this.bytes[this.message.start] === OPEN;
	}

	/** Notes where the members of an object are. Returns the position behind it and the space there, or BAD. */
	#members(start: number, known: Keys): number {
		const walk = this.#walk;
		const {text} = walk;
		if (text[start] !== OPEN) return BAD;
		let at = walk.skipSpace(start + 1);
		if (text[at] === CLOSE) return walk.skipSpace(at + 1);
		for (;;) {
			const end = this.#member(at, known);
			if (end === BAD) return BAD;
			at = walk.skipSpace(end);
			if (text[at] === CLOSE) return walk.skipSpace(at + 1);
			if (text[at] !== COMMA) return BAD;
			at = walk.skipSpace(at + 1);
		}
	}

	/** Notes where the value of a member is. Returns the position behind it, or BAD. */
	#member(at: number, known: Keys): number {
		const walk = this.#walk;
		const {text} = walk;
		const keyEnd = text[at] === QUOTE ? walk.endOfString(at) : BAD;
		if (keyEnd === BAD) return BAD;
		const found = known.find(text, at, keyEnd, walk.hasEscape);
		const value = walk.afterColon(keyEnd);
		const end = value === BAD ? BAD : walk.endOfValue(value);
		// As with a parser, the last of several is the one that counts.
		if (found && end !== BAD) {
			found.start = value;
			found.end = end;
		}
		return end;
	}

	/** The text of a string that is likely to come again; nothing where the value is no string. */
	text({start, end}: Span): string | undefined {
		if (start === 0 || this.bytes[start] !== QUOTE) return;
		if (end - start > MAX_TEXT) return `${this.bytes.toString('utf8', start + 1, start + MAX_TEXT)}…`;
		return this.#names.text(this.bytes, start, end);
	}

	/** An id as it is written; nothing where there is none that could be one. */
	idText({start, end}: Span): string | undefined {
		const first = this.bytes[start];
		if (start === 0 || first === undefined || end - start > MAX_ID) return;
		const isId = first === QUOTE || first === MINUS || (first >= 0x30 && first <= 0x39);
		return isId ? this.bytes.toString('latin1', start, end) : undefined;
	}

	/** The time as microseconds since the epoch; NaN where there is none. */
	get microseconds(): number {
		return timeOf(this.bytes, this.time.start, this.time.end);
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
const MAX_ID = 256;
const MAX_TEXT = 256;

type Key = {readonly name: Buffer; readonly found: Span};

/** The keys that matter, found by their lengths, first and last letters. */
class Keys {
	readonly #byNumber: ReadonlyMap<number, Key>;
	readonly #byName: ReadonlyMap<string, Span>;

	constructor(spans: {readonly [name: string]: Span}) {
		const keys = Object.entries(spans).map(([name, found]): Key => ({name: Buffer.from(name), found}));
		this.#byNumber = new Map(keys.map(key => [keyNumber(key.name, 0, key.name.length), key]));
		this.#byName = new Map(Object.entries(spans));
	}

	/** The key that is written between two positions that include its quotes. */
	find(bytes: Buffer, start: number, end: number, hasEscape: boolean): Span | undefined {
		if (hasEscape) return end - start > MAX_TEXT ? undefined : this.#byName.get(textOf(bytes, start, end));
		const key = this.#byNumber.get(keyNumber(bytes, start + 1, end - 1));
		if (!key) return;
		for (let at = 1; at < key.name.length; at++) if (key.name[at] !== bytes[start + 1 + at]) return;
		return key.found;
	}
}

const keyNumber = (bytes: Uint8Array, start: number, end: number): number =>
	((end - start) << 16) | ((bytes[start] as number) << 8) | (bytes[end - 1] as number);

const DAY = 86_400;
let dayText = -1;
let daySeconds = 0;

/** Reads `"2026-11-16T01:02:03.456789Z"`, in quotes. All but the date is read digit by digit: a date is worked out once. */
function timeOf(bytes: Buffer, start: number, end: number): number {
	if (end - start !== 29 || bytes[start + 11] !== 0x54 || bytes[start + 27] !== 0x5a)
		return otherTime(bytes, start, end);
	const digits = (at: number, count: number): number => {
		let value = 0;
		for (let digit = start + at; digit < start + at + count; digit++)
			value = value * 10 + (bytes[digit] as number) - 0x30;
		return value;
	};
	const date = digits(1, 4) * 10_000 + digits(6, 2) * 100 + digits(9, 2);
	if (date !== dayText) {
		dayText = date;
		daySeconds = Date.parse(bytes.toString('latin1', start + 1, start + 11)) / 1000;
	}
	const seconds = digits(12, 2) * 3600 + digits(15, 2) * 60 + digits(18, 2);
	return seconds <= DAY ? (daySeconds + seconds) * 1e6 + digits(21, 6) : Number.NaN;
}

/** Times that somebody else has written. */
function otherTime(bytes: Buffer, start: number, end: number): number {
	if (start === 0 || bytes[start] !== QUOTE || end - start > 64) return Number.NaN;
	return Date.parse(textOf(bytes, start, end)) * 1000;
}
