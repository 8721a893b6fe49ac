import {isUtf8} from 'node:buffer';
import {FrequentTexts} from './frequent-texts.js';
import {canonicalId} from './id.js';
import {
	afterColon,
	BAD,
	endOfString,
	endOfValue,
	isKey,
	isSpaceUpTo,
	type Key,
	key,
	type Notes,
	newNotes,
	skipSpace,
} from './json.js';

/** Why something that arrived is no message that may pass. */
export type Flaw =
	| 'not JSON'
	| 'not an object'
	| 'nested too deep'
	| 'a repeated key'
	| 'an id of the wrong type'
	| 'not JSON-RPC 2.0'
	| 'neither request nor answer'
	| 'too large';

/** What a pipeline needs to know of a message to route it. */
export type Head = {
	/** The id exactly as it is written: `1`, `"1"` and `1.0` are three ids. Undefined when there is none. */
	readonly id: string | undefined;
	/** The same for all spellings of the id: what answers are found by. */
	readonly key: string | undefined;
	/** Where the id is written in the message's bytes. */
	readonly idAt: number;
	readonly method: string | undefined;
	readonly hasResult: boolean;
	readonly hasError: boolean;
	/** What is wrong with it; undefined for every message that may pass. */
	readonly flaw: Flaw | undefined;
};

const keys = ['jsonrpc', 'id', 'method', 'params', 'result', 'error'].map(key);
const NAME = key('name');
const [JSONRPC, ID, METHOD, PARAMS, RESULT, ERROR, OTHER] = [0, 1, 2, 3, 4, 5, 6] as const;

const candidates = new Uint8Array(512).fill(OTHER);
for (const [index, {bytes}] of keys.entries())
	candidates[(bytes.length + 2) * 32 + ((bytes[0] as number) & 31)] = index;

/** Where the values of those keys start and end in the message that is being read; 0 where there is none. */
const starts = new Int32Array(OTHER);
const ends = new Int32Array(OTHER);
/** Whether one of them is in it twice. */
let hasRepeatedKey = false;

/** The head of something of which no more is known than what is wrong with it. */
export const flawed = (flaw: Flaw, id?: string, hasResult = false): Head => ({
	id,
	key: id === undefined ? undefined : canonicalId(id),
	idAt: 0,
	method: undefined,
	hasResult,
	hasError: false,
	flaw,
});

/**
 * Reads the top level of a message and checks all of it, building nothing but the head.
 *
 * It never stops at the first `method`: peers take the last of repeated keys, so a message must not be one thing here
 * and another to its receiver. `end` is the end of the message in `bytes`, which may go on behind it.
 */
export function scan(bytes: Buffer, end = bytes.length): Head {
	const notes = newNotes();
	const open = skipSpace(bytes, 0);
	if (bytes[open] !== 0x7b) return otherValue(bytes, open, end, notes);
	// Not by fill(), a call out of optimised code and dearer than six stores.
	for (let which = 0; which < OTHER; which++) starts[which] = 0;
	hasRepeatedKey = false;
	if (!members(bytes, open + 1, end, notes) || !isText(bytes, end, notes)) return flawed('not JSON');
	return head(bytes, notes);
}

function otherValue(bytes: Buffer, at: number, end: number, notes: Notes): Head {
	const close = endOfValue(bytes, at, end, 0, notes);
	const isJson = close !== BAD && isSpaceUpTo(bytes, close, end) && isText(bytes, end, notes);
	return flawed(isJson ? 'not an object' : 'not JSON');
}

const isText = (bytes: Buffer, end: number, notes: Notes): boolean =>
	!notes.hasHighBytes || isUtf8(bytes.subarray(0, end));

/** Walks over all members. Returns whether it is JSON. */
function members(bytes: Buffer, inside: number, end: number, notes: Notes): boolean {
	let at = skipSpace(bytes, inside);
	if (bytes[at] === 0x7d) return isSpaceUpTo(bytes, at + 1, end);
	for (;;) {
		const close = member(bytes, at, end, notes);
		if (close === BAD) return false;
		at = skipSpace(bytes, close);
		if (bytes[at] === 0x7d) return isSpaceUpTo(bytes, at + 1, end);
		if (bytes[at] !== 0x2c) return false;
		at = skipSpace(bytes, at + 1);
	}
}

/** Walks over one member, and notes where its value is if it matters. Returns the position after it. */
function member(bytes: Buffer, at: number, end: number, notes: Notes): number {
	const keyEnd = bytes[at] === 0x22 ? endOfString(bytes, at, end, notes) : BAD;
	if (keyEnd === BAD) return BAD;
	const which = keyOf(bytes, at, keyEnd, notes);
	const start = afterColon(bytes, keyEnd);
	if (start === BAD) return BAD;
	notes.watch = which === PARAMS ? NAME : undefined;
	const close = endOfValue(bytes, start, end, 1, notes);
	if (which !== OTHER) {
		if (starts[which] !== 0) hasRepeatedKey = true;
		starts[which] = start;
		ends[which] = close;
	}
	return close;
}

/** Which of the keys that matter is the last string, which is written between two positions. */
function keyOf(bytes: Buffer, start: number, end: number, notes: Notes): number {
	if (notes.hasEscape) {
		const index = keys.findIndex(known => isKey(bytes, start, end, known, notes));
		return index === -1 ? OTHER : index;
	}
	// By length and first letter there is at most one to compare with.
	const candidate = candidates[(end - start) * 32 + ((bytes[start + 1] as number) & 31)] ?? OTHER;
	return candidate !== OTHER && isKey(bytes, start, end, keys[candidate] as Key, notes) ? candidate : OTHER;
}

function head(bytes: Buffer, notes: Notes): Head {
	const idAt = starts[ID] as number;
	const hasId = idAt !== 0 && isIdStart(bytes[idAt]);
	const id = hasId ? idText(bytes, idAt, ends[ID] as number) : undefined;
	const methodAt = starts[METHOD] as number;
	const hasMethod = methodAt !== 0 && bytes[methodAt] === 0x22;
	const method = hasMethod ? methods.text(bytes, methodAt, ends[METHOD] as number) : undefined;
	const hasResult = starts[RESULT] !== 0;
	const hasError = starts[ERROR] !== 0;
	const flaw = flawOf(bytes, notes, hasMethod);
	const key = id === undefined ? undefined : canonicalId(id);
	return {id, key, idAt, method, hasResult, hasError, flaw};
}

const methods = new FrequentTexts();

/** Small numbers, which most ids are, without asking for a slice of the bytes. */
function idText(bytes: Buffer, start: number, end: number): string {
	if (end - start > 9) return bytes.toString('utf8', start, end);
	let value = 0;
	for (let at = start; at < end; at++) {
		const digit = (bytes[at] as number) - 0x30;
		if (digit < 0 || digit > 9) return bytes.toString('utf8', start, end);
		value = value * 10 + digit;
	}
	return String(value);
}

function flawOf(bytes: Buffer, notes: Notes, hasMethod: boolean): Flaw | undefined {
	if (notes.isTooDeep) return 'nested too deep';
	if (hasRepeatedKey || notes.watched > 1) return 'a repeated key';
	const idAt = starts[ID] as number;
	const hasResult = starts[RESULT] !== 0;
	const hasError = starts[ERROR] !== 0;
	// An error may say that it could not tell the id of what it answers.
	const mayLackId = hasError && !hasMethod && (idAt === 0 || bytes[idAt] === 0x6e);
	if (idAt !== 0 && !isIdStart(bytes[idAt]) && !mayLackId) return 'an id of the wrong type';
	if (!isVersion2(bytes)) return 'not JSON-RPC 2.0';
	const isRequest = hasMethod && !hasResult && !hasError;
	const isAnswer = starts[METHOD] === 0 && hasResult !== hasError && (idAt !== 0 || mayLackId);
	return isRequest || isAnswer ? undefined : 'neither request nor answer';
}

/** A string or a number. */
const isIdStart = (byte: number | undefined): boolean =>
	byte === 0x22 || byte === 0x2d || (byte !== undefined && byte >= 0x30 && byte <= 0x39);

/** Whether `jsonrpc` is "2.0", which nobody has a reason to spell with escapes. */
function isVersion2(bytes: Buffer): boolean {
	const at = starts[JSONRPC] as number;
	return (
		at !== 0 &&
		ends[JSONRPC] === at + 5 &&
		bytes[at] === 0x22 &&
		bytes[at + 1] === 0x32 &&
		bytes[at + 2] === 0x2e &&
		bytes[at + 3] === 0x30
	);
}
