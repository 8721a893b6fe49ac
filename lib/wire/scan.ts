import {isUtf8} from 'node:buffer';
import {isBatch} from './batch.js';
import {canonicalId} from './id.js';
import {ALL_MARKS} from './marks.js';
import {StringCache} from './string-cache.js';
import {ERROR, ID, JSONRPC, METHOD, RESULT, type Walk, walkFor} from './walk.js';

export type Flaw =
	| 'not JSON'
	| 'not an object'
	| 'a batch'
	| 'nested too deep'
	| 'too complex'
	| 'a repeated key'
	| 'an id of the wrong type'
	| 'not JSON-RPC 2.0'
	| 'neither request nor response'
	| 'too large';

/** The parts of a message that a pipeline needs to route it. */
export type MessageHead = {
	/** The id with its exact spelling: `1`, `"1"` and `1.0` are three ids. Undefined if there is none. */
	readonly id: string | undefined;
	/** The canonical id, which is the same for all spellings. Responses are matched by it. */
	readonly key: string | undefined;
	/** The position of the id in the bytes of the message. */
	readonly idStart: number;
	readonly method: string | undefined;
	readonly hasResult: boolean;
	readonly hasError: boolean;
	/** Flags for members inside of the message: see marks.ts. */
	readonly marks: number;
	/** The reason to reject the message; undefined if it is valid. */
	readonly flaw: Flaw | undefined;
};

/** Whether a message is a response, even an invalid one. Responses never get a response. */
export const isResponse = ({method, hasResult, hasError}: MessageHead): boolean =>
	method === undefined && (hasResult || hasError);

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
 * Reads the top level of a message and validates the whole message. Builds nothing but the head.
 *
 * The scan never stops at the first `method`, because peers use the last of repeated keys: a message must
 * mean the same here and to its receiver. `end` is the end of the message in `bytes`.
 */
export function scanMessage(bytes: Buffer, end = bytes.length): MessageHead {
	const walk = walkFor(end);
	walk.write(bytes, 0);
	return checkedHead(walk, end);
}

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

/** Reads small numbers, which most ids are, without decoding a slice of the bytes. */
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
	// The id of an error may be missing or null if the peer could not read the id of the request.
	const mayLackId = hasError && !hasMethod && (idStart === 0 || bytes[idStart] === 0x6e);
	if (idStart !== 0 && !isIdStart(bytes[idStart]) && !mayLackId) return 'an id of the wrong type';
	if (!isVersion2(bytes, walk.startOf(JSONRPC), walk.endOf(JSONRPC))) return 'not JSON-RPC 2.0';
	const isRequest = hasMethod && !hasResult && !hasError;
	const isResponse = walk.startOf(METHOD) === 0 && hasResult !== hasError && (idStart !== 0 || mayLackId);
	return isRequest || isResponse ? undefined : 'neither request nor response';
}

/** Whether a byte starts a string or a number. */
const isIdStart = (byte: number | undefined): boolean =>
	byte === 0x22 || byte === 0x2d || (byte !== undefined && byte >= 0x30 && byte <= 0x39);

/** Whether a value is "2.0". A spelling with escapes is not accepted. */
const isVersion2 = (bytes: Buffer, at: number, end: number): boolean =>
	at !== 0 &&
	end === at + 5 &&
	bytes[at] === 0x22 &&
	bytes[at + 1] === 0x32 &&
	bytes[at + 2] === 0x2e &&
	bytes[at + 3] === 0x30;
