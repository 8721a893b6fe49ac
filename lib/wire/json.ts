import {type PlainRun, plainRun, WINDOW} from './plain-run.js';

/** Arrays and objects may be nested this deep, the message itself included: more overflows the stack of many a parser. */
export const MAX_DEPTH = 1000;

/** What a walk hands back instead of a position where the text is not JSON. */
export const BAD = -1;

/** What a walk over a value notices on its way. */
export type Notes = {
	/** Whether a string has bytes beyond ASCII. The caller has to check then that they are UTF-8. */
	hasHighBytes: boolean;
	/** Whether the last string has an escape, and so may be another text than it looks like. */
	hasEscape: boolean;
	isTooDeep: boolean;
	/** A key to look for, directly in the value that the walk starts at, and how often it was there. */
	watch: Key | undefined;
	watched: number;
};

export const newNotes = (): Notes => ({
	hasHighBytes: false,
	hasEscape: false,
	isTooDeep: false,
	watch: undefined,
	watched: 0,
});

/** A key as text and as bytes. */
export type Key = {readonly text: string; readonly bytes: Uint8Array};

export const key = (text: string): Key => ({text, bytes: Buffer.from(text)});

/** Strings are looked at bytewise up to this length, and in windows of growing size beyond. */
const LONG = 256;
const FIRST_WINDOW = 4096;

const PLAIN = 0;
const QUOTE = 1;
const BACKSLASH = 2;
const HIGH = 3;
const CONTROL = 4;

/** What a byte means inside a string. */
const inString = new Uint8Array(256);
inString.fill(CONTROL, 0, 0x20);
inString.fill(HIGH, 0x80);
inString[0x22] = QUOTE;
inString[0x5c] = BACKSLASH;

const isSimpleEscape = new Uint8Array(256);
for (const letter of Buffer.from('"\\/bfnrt')) isSimpleEscape[letter] = 1;

const isHexDigit = new Uint8Array(256);
for (const digit of Buffer.from('0123456789abcdefABCDEF')) isHexDigit[digit] = 1;

const isSpace = new Uint8Array(256);
for (const space of Buffer.from(' \t\r\n')) isSpace[space] = 1;

const OBJECT = 0x7b;
const ARRAY = 0x5b;

/** The opening bytes of the containers that the one walk going on is in. */
const open = new Uint8Array(MAX_DEPTH + 1);

/** The first position from `at` on that holds no white space. */
export function skipSpace(bytes: Buffer, at: number): number {
	while (isSpace[bytes[at] as number] === 1) at++;
	return at;
}

/** Whether nothing but white space follows. */
export function isSpaceUpTo(bytes: Buffer, at: number, end: number): boolean {
	// Not by skipSpace, which would read past the buffer: once a function has done so, V8 makes all its reads slow.
	while (at < end && isSpace[bytes[at] as number] === 1) at++;
	return at === end;
}

/** The position after the string that opens at `at`. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one loop on purpose; a call a byte took twice as long
export function endOfString(bytes: Buffer, at: number, end: number, notes: Notes): number {
	const longFrom = at + LONG;
	at++;
	notes.hasEscape = false;
	for (;;) {
		let kind = inString[bytes[at] as number];
		while (kind === PLAIN && at < longFrom) kind = inString[bytes[++at] as number];
		if (kind === QUOTE) return at < end ? at + 1 : BAD;
		if (at >= longFrom) return endOfLongString(bytes, at, end, notes);
		if (kind === BACKSLASH) {
			notes.hasEscape = true;
			at = endOfEscape(bytes, at);
			if (at === BAD) return BAD;
		} else if (kind === HIGH) {
			notes.hasHighBytes = true;
			at++;
		} else return BAD;
	}
}

let plain: PlainRun | undefined;

/** The same from a position inside the string, window by window. */
function endOfLongString(bytes: Buffer, at: number, end: number, notes: Notes): number {
	plain ??= plainRun();
	// It is not looked for either here: to check the whole message is cheaper than to find out whether to.
	notes.hasHighBytes = true;
	notes.hasEscape = true;
	for (let size = FIRST_WINDOW; at < end; size = Math.min(size * 4, WINDOW)) {
		const start = at;
		const length = Math.min(size, end - start);
		plain.window.set(bytes.subarray(start, start + length));
		plain.window.fill(0, length, length + 16);
		do {
			at = start + plain.run(at - start);
			if (at >= start + length) break;
			if (bytes[at] === 0x22) return at + 1;
			at = bytes[at] === 0x5c ? endOfEscape(bytes, at) : BAD;
			if (at === BAD) return BAD;
		} while (at < start + length);
	}
	return BAD;
}

/** From the end of a key to the start of its value. */
export function afterColon(bytes: Buffer, at: number): number {
	at = skipSpace(bytes, at);
	return bytes[at] === 0x3a ? skipSpace(bytes, at + 1) : BAD;
}

/** Whether the last string, which is between two positions that include its quotes, is this key. */
export function isKey(bytes: Buffer, start: number, end: number, key: Key, {hasEscape}: Notes): boolean {
	if (hasEscape) return textOf(bytes, start, end) === key.text;
	const plain = key.bytes;
	if (end - start !== plain.length + 2) return false;
	for (let i = 0; i < plain.length; i++) if (bytes[start + 1 + i] !== plain[i]) return false;
	return true;
}

/** The text of the string between two positions that include its quotes. */
export function textOf(bytes: Buffer, start: number, end: number): string {
	const raw = bytes.toString('utf8', start + 1, end - 1);
	return raw.includes('\\') ? JSON.parse(`"${raw}"`) : raw;
}

/**
 * The position after the value that starts at `at`, inside of `depth` containers.
 *
 * Strict to the grammar, so that what passes here is JSON to every parser behind bridge; builds nothing.
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one loop on purpose; split into methods it took three times as long
export function endOfValue(bytes: Buffer, at: number, end: number, depth: number, notes: Notes): number {
	const outside = depth;
	for (;;) {
		const byte = bytes[at];
		if (byte === 0x22) at = endOfString(bytes, at, end, notes);
		else if (byte === OBJECT || byte === ARRAY) {
			const inside = skipSpace(bytes, at + 1);
			if (depth === MAX_DEPTH) at = endOfTooDeep(bytes, at, end, notes);
			else if (bytes[inside] === byte + 2) at = inside + 1;
			else {
				open[++depth] = byte;
				at = byte === OBJECT ? afterKey(bytes, inside, end, depth === outside + 1, notes) : inside;
				if (at === BAD) return BAD;
				continue;
			}
		} else at = endOfWord(bytes, at, byte);
		if (at === BAD) return BAD;
		for (;;) {
			if (depth === outside) return at <= end ? at : BAD;
			at = skipSpace(bytes, at);
			if (bytes[at] === 0x2c) {
				at = skipSpace(bytes, at + 1);
				if (open[depth] === OBJECT) at = afterKey(bytes, at, end, depth === outside + 1, notes);
				if (at === BAD) return BAD;
				break;
			}
			if (bytes[at] !== (open[depth] as number) + 2) return BAD;
			depth--;
			at++;
		}
	}
}

/** From the start of a key to the start of its value. */
function afterKey(bytes: Buffer, at: number, end: number, isWatched: boolean, notes: Notes): number {
	if (bytes[at] !== 0x22) return BAD;
	const close = endOfString(bytes, at, end, notes);
	if (close === BAD) return BAD;
	if (isWatched && notes.watch !== undefined && isKey(bytes, at, close, notes.watch, notes)) notes.watched++;
	return afterColon(bytes, close);
}

function endOfWord(bytes: Buffer, at: number, byte: number | undefined): number {
	if (byte === 0x74) return endOfLiteral(bytes, at, TRUE);
	if (byte === 0x66) return endOfLiteral(bytes, at, FALSE);
	if (byte === 0x6e) return endOfLiteral(bytes, at, NULL);
	return endOfNumber(bytes, at);
}

const [TRUE, FALSE, NULL] = [Buffer.from('true'), Buffer.from('false'), Buffer.from('null')] as const;

function endOfLiteral(bytes: Buffer, at: number, word: Uint8Array): number {
	for (let i = 1; i < word.length; i++) if (bytes[at + i] !== word[i]) return BAD;
	return at + word.length;
}

function endOfNumber(bytes: Buffer, at: number): number {
	if (bytes[at] === 0x2d) at++;
	at = bytes[at] === 0x30 ? at + 1 : endOfDigits(bytes, at);
	if (at !== BAD && bytes[at] === 0x2e) at = endOfDigits(bytes, at + 1);
	if (at === BAD || (bytes[at] !== 0x65 && bytes[at] !== 0x45)) return at;
	const sign = bytes[at + 1];
	return endOfDigits(bytes, sign === 0x2b || sign === 0x2d ? at + 2 : at + 1);
}

/** The position after one digit or more. */
function endOfDigits(bytes: Buffer, start: number): number {
	let at = start;
	let byte = bytes[at] as number;
	while (byte >= 0x30 && byte <= 0x39) byte = bytes[++at] as number;
	return at > start ? at : BAD;
}

/** The position after an escape, which begins with a backslash at `at`. */
function endOfEscape(bytes: Buffer, at: number): number {
	const letter = bytes[at + 1] as number;
	if (isSimpleEscape[letter] === 1) return at + 2;
	if (letter !== 0x75) return BAD;
	for (let digit = at + 2; digit < at + 6; digit++) if (isHexDigit[bytes[digit] as number] !== 1) return BAD;
	return at + 6;
}

/** Steps over what is nested too deep, so that the rest of the message, its id perhaps, is still seen. */
function endOfTooDeep(bytes: Buffer, at: number, end: number, notes: Notes): number {
	notes.isTooDeep = true;
	for (let depth = 0; at < end; at++) {
		const byte = bytes[at];
		if (byte === 0x22) {
			at = endOfString(bytes, at, end, notes) - 1;
			if (at < 0) return BAD;
		} else if (byte === OBJECT || byte === ARRAY) depth++;
		else if ((byte === OBJECT + 2 || byte === ARRAY + 2) && --depth === 0) return at + 1;
	}
	return BAD;
}
