import {isUtf8} from 'node:buffer';
import {isBatch} from './batch.js';
import {canonicalId} from './id.js';
import {ALL_MARKS} from './marks.js';
import {StringCache} from './string-cache.js';
import {ERROR, ID, JSONRPC, METHOD, RESULT, type Walk, walkFor} from './walk.js';

/** Why something that arrived is no message that may pass. */
export type Flaw =
	| 'not JSON'
	| 'not an object'
	| 'a batch'
	| 'nested too deep'
	| 'too complex'
	| 'a repeated key'
	| 'an id of the wrong type'
	| 'not JSON-RPC 2.0'
	| 'neither request nor answer'
	| 'too large';

/** What a pipeline needs to know of a message to route it. */
export type MessageHead = {
	/** The id exactly as it is written: `1`, `"1"` and `1.0` are three ids. Undefined when there is none. */
	readonly id: string | undefined;
	/** The same for all spellings of the id: what answers are found by. */
	readonly key: string | undefined;
	/** Where the id is written in the message's bytes. */
	readonly idStart: number;
	readonly method: string | undefined;
	readonly hasResult: boolean;
	readonly hasError: boolean;
	/** What there is inside of it, as far as anybody wants to know: see marks.ts. */
	readonly marks: number;
	/** What is wrong with it; undefined for every message that may pass. */
	readonly flaw: Flaw | undefined;
};

/** Whether a message is meant as an answer, however wrong it is. Answers are not answered. */
export const isResponse = ({method, hasResult, hasError}: MessageHead): boolean =>
	method === undefined && (hasResult || hasError);

/** The head of something of which no more is known than what is wrong with it. */
export const flawedHead = (flaw: Flaw, id?: string, hasResult = false): MessageHead => ({
	id,
	key: id === undefined ? undefined : canonicalId(id),
	idStart: 0,
	method: undefined,
	hasResult,
	hasError: false,
	marks: ALL_MARKS,
	flaw,
});

/**
 * Reads the top level of a message and checks all of it, building nothing but the head.
 *
 * It never stops at the first `method`: peers take the last of repeated keys, so a message must not be one thing here
 * and another to its receiver. `end` is the end of the message in `bytes`, which may go on behind it.
 */
export function scanMessage(bytes: Buffer, end = bytes.length): MessageHead {
	const walk = walkFor(end);
	walk.write(bytes, 0);
	return checkedHead(walk, end);
}

/** The same for a message that lies in parts. */
export function scanMessageParts(parts: readonly Buffer[], end: number): MessageHead {
	const walk = walkFor(end);
	walk.writeAll(parts);
	return checkedHead(walk, end);
}

function checkedHead(walk: Walk, end: number): MessageHead {
	const kind = walk.scan(end);
	if (kind < 0 || (walk.hasHighBytes && !isUtf8(walk.text.subarray(0, end)))) return flawedHead('not JSON');
	if (kind === 0 && walk.isTooComplex) return flawedHead('too complex');
	if (kind === 0) return flawedHead(isBatch(walk.text.subarray(0, end)) ? 'a batch' : 'not an object');
	return readHead(walk);
}

function readHead(walk: Walk): MessageHead {
	const bytes = walk.text;
	const idStart = walk.startOf(ID);
	const id = idStart !== 0 && isIdStart(bytes[idStart]) ? idText(bytes, idStart, walk.endOf(ID)) : undefined;
	const methodAt = walk.startOf(METHOD);
	const hasMethod = methodAt !== 0 && bytes[methodAt] === 0x22;
	const method = hasMethod ? methodNames.get(bytes, methodAt, walk.endOf(METHOD)) : undefined;
	const hasResult = walk.startOf(RESULT) !== 0;
	const hasError = walk.startOf(ERROR) !== 0;
	const flaw = flawOf(bytes, walk, hasMethod);
	const key = id === undefined ? undefined : canonicalId(id);
	return {id, key, idStart, method, hasResult, hasError, marks: walk.marks, flaw};
}

const methodNames = new StringCache();

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

function flawOf(bytes: Buffer, walk: Walk, hasMethod: boolean): Flaw | undefined {
	if (walk.isTooDeep) return 'nested too deep';
	if (walk.isTooComplex) return 'too complex';
	if (walk.hasRepeatedKey) return 'a repeated key';
	const idStart = walk.startOf(ID);
	const hasResult = walk.startOf(RESULT) !== 0;
	const hasError = walk.startOf(ERROR) !== 0;
	// An error may say that it could not tell the id of what it answers.
	const mayLackId = hasError && !hasMethod && (idStart === 0 || bytes[idStart] === 0x6e);
	if (idStart !== 0 && !isIdStart(bytes[idStart]) && !mayLackId) return 'an id of the wrong type';
	if (!isVersion2(bytes, walk.startOf(JSONRPC), walk.endOf(JSONRPC))) return 'not JSON-RPC 2.0';
	const isRequest = hasMethod && !hasResult && !hasError;
	const isResponse = walk.startOf(METHOD) === 0 && hasResult !== hasError && (idStart !== 0 || mayLackId);
	return isRequest || isResponse ? undefined : 'neither request nor answer';
}

/** A string or a number. */
const isIdStart = (byte: number | undefined): boolean =>
	byte === 0x22 || byte === 0x2d || (byte !== undefined && byte >= 0x30 && byte <= 0x39);

/** Whether a value is "2.0", which nobody has a reason to spell with escapes. */
const isVersion2 = (bytes: Buffer, at: number, end: number): boolean =>
	at !== 0 &&
	end === at + 5 &&
	bytes[at] === 0x22 &&
	bytes[at + 1] === 0x32 &&
	bytes[at + 2] === 0x2e &&
	bytes[at + 3] === 0x30;
