import {isUtf8} from 'node:buffer';
import type {JsonObject} from '../../util/json.js';
import {batchElements, isBatch} from '../../wire/batch.js';
import {memberRange} from '../../wire/member.js';
import {walkFor} from '../../wire/walk.js';
import {MessageParser} from './parse-message.js';
import type {InboxContent, MailMessage} from './types.js';

/** More than any inbox holds; with more, it is not an inbox any more. */
const MAX_ENTRIES = 1_000_000;
const MAX_LATEST = 100;

/** The file is no inbox, or one that is being written just now. */
export class IncompleteFileError extends Error {
	override readonly name = 'IncompleteFileError';
}

/** An entry of an inbox: its text, which is what stays, and what it means, if it is a message. */
type InboxEntry = {readonly text: Buffer; readonly message: MailMessage | undefined};

/** The texts of its entries; throws where it is torn. */
function splitEntries(bytes: Buffer): Buffer[] {
	const walk = walkFor(bytes.length);
	const isJson = isUtf8(bytes) && walk.scan(walk.write(bytes, 0)) === 0;
	const texts = isJson && isBatch(skipWhitespace(bytes)) ? batchElements(bytes, MAX_ENTRIES) : undefined;
	if (!texts) throw new IncompleteFileError(bytes.length === 0 ? 'it is empty' : 'it is no list in JSON');
	return texts;
}

/** Understands an inbox; throws where it is torn. */
function parseEntries(bytes: Buffer): InboxEntry[] {
	const parser = new MessageParser();
	return splitEntries(bytes).map(text => ({text, message: parser.parse(JSON.parse(text.toString()))}));
}

/** The last entries as they are, messages or not: enough to tell who writes there. */
export const parseLatestRecords = (bytes: Buffer | undefined): unknown[] =>
	bytes === undefined
		? []
		: splitEntries(bytes)
				.slice(-MAX_LATEST)
				.map(text => JSON.parse(text.toString()));

/** Whether something with this id is in it; also where there is no inbox any more, since nobody waits for it then. */
export const containsId = (bytes: Buffer | undefined, id: string): boolean =>
	bytes === undefined || (splitEntries(bytes).length > 0 && bytes.includes(JSON.stringify(id)));

/** What is in an inbox, for those who only read. */
export function parseInbox(bytes: Buffer): InboxContent {
	const entries = parseEntries(bytes);
	const messages = new Map<string, MailMessage>();
	for (const {message} of entries) {
		const earlier = message && messages.get(message.id);
		// Written twice, it is read once one of the two is.
		if (message && (!earlier || message.isRead)) messages.set(message.id, message);
	}
	return {
		messages: [...messages.values()],
		skipped: entries.filter(({message}) => message === undefined).length,
	};
}

const INDENT = '  ';

/** The inbox with one more entry at its end. All else stays as it is, byte for byte. */
export function appendEntry(bytes: Buffer | undefined, record: JsonObject): Buffer {
	const text = JSON.stringify(record, undefined, INDENT).replaceAll('\n', `\n${INDENT}`);
	if (bytes === undefined) return Buffer.from(`[\n${INDENT}${text}\n]`);
	const last = splitEntries(bytes).at(-1);
	if (!last)
		return Buffer.from(`[\n${INDENT}${text}\n]${bytes.toString().slice(bytes.lastIndexOf(']') + 1)}`);
	const end = endOffsetIn(bytes, last);
	return Buffer.concat([bytes.subarray(0, end), Buffer.from(`,\n${INDENT}${text}`), bytes.subarray(end)]);
}

/** The inbox with some messages marked as read, or not; undefined where that changes nothing. */
export function setReadMarks(bytes: Buffer, ids: ReadonlySet<string>, isRead: boolean): Buffer | undefined {
	const parts: Buffer[] = [];
	let copiedTo = 0;
	for (const {text, message} of parseEntries(bytes)) {
		if (!message || message.isRead === isRead || !ids.has(message.id)) continue;
		const start = endOffsetIn(bytes, text) - text.length;
		const found = memberRange(text, 'read');
		// Without one, it becomes the first member.
		const [from, to] = found ? [start + found[0], start + found[1]] : [start + 1, start + 1];
		parts.push(bytes.subarray(copiedTo, from), Buffer.from(found ? String(isRead) : `"read": ${isRead}, `));
		copiedTo = to;
	}
	return parts.length > 0 ? Buffer.concat([...parts, bytes.subarray(copiedTo)]) : undefined;
}

/** Where a part of it ends. */
const endOffsetIn = (bytes: Buffer, part: Buffer): number => part.byteOffset - bytes.byteOffset + part.length;

const skipWhitespace = (bytes: Buffer): Buffer => {
	let at = 0;
	while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++;
	return bytes.subarray(at);
};
