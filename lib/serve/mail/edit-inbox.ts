import {isUtf8} from 'node:buffer';
import type {JsonObject} from '../../util/json.js';
import {batchElements, isBatch} from '../../wire/batch.js';
import {memberRange} from '../../wire/member.js';
import {walkFor} from '../../wire/walk.js';
import {MessageParser} from './parse-message.js';
import type {InboxContent, MailMessage} from './types.js';

/** Limit on entries. A file with more is treated as incomplete. */
const MAX_ENTRIES = 1_000_000;
const MAX_LATEST = 100;

/** The content is invalid, possibly because another program is writing the file. */
export class IncompleteFileError extends Error {
	override readonly name = 'IncompleteFileError';
}

/** An entry of an inbox: its exact text, and the message if it is a valid one. */
type InboxEntry = {readonly text: Buffer; readonly message: MailMessage | undefined};

/** Splits an inbox into the texts of its entries. Throws IncompleteFileError if it is incomplete. */
function splitEntries(bytes: Buffer): Buffer[] {
	const walk = walkFor(bytes.length);
	const isJson = isUtf8(bytes) && walk.scan(walk.write(bytes, 0)) === 0;
	const texts = isJson && isBatch(skipWhitespace(bytes)) ? batchElements(bytes, MAX_ENTRIES) : undefined;
	if (!texts) throw new IncompleteFileError(bytes.length === 0 ? 'it is empty' : 'it is not a JSON array');
	return texts;
}

function parseEntries(bytes: Buffer): InboxEntry[] {
	const parser = new MessageParser();
	return splitEntries(bytes).map(text => ({text, message: parser.parse(JSON.parse(text.toString()))}));
}

/** The last entries, parsed as JSON. They are sufficient to detect which programs write this inbox. */
export const parseLatestRecords = (bytes: Buffer | undefined): unknown[] =>
	bytes === undefined
		? []
		: splitEntries(bytes)
				.slice(-MAX_LATEST)
				.map(text => JSON.parse(text.toString()));

/**
 * Whether an entry with this id exists. Also true if the inbox was removed, because its messages are not
 * needed then.
 */
export const containsId = (bytes: Buffer | undefined, id: string): boolean =>
	bytes === undefined || (splitEntries(bytes).length > 0 && bytes.includes(JSON.stringify(id)));

/** Parses an inbox. Throws IncompleteFileError if it is incomplete. */
export function parseInbox(bytes: Buffer): InboxContent {
	const entries = parseEntries(bytes);
	const messages = new Map<string, MailMessage>();
	for (const {message} of entries) {
		const earlier = message && messages.get(message.id);
		// A message that was written twice counts as read if either copy is.
		if (message && (!earlier || message.isRead)) messages.set(message.id, message);
	}
	return {
		messages: [...messages.values()],
		skipped: entries.filter(({message}) => message === undefined).length,
	};
}

const INDENT = '  ';

/** Appends an entry to an inbox. All other bytes stay unchanged. */
export function appendEntry(bytes: Buffer | undefined, record: JsonObject): Buffer {
	const text = JSON.stringify(record, undefined, INDENT).replaceAll('\n', `\n${INDENT}`);
	if (bytes === undefined) return Buffer.from(`[\n${INDENT}${text}\n]`);
	const last = splitEntries(bytes).at(-1);
	if (!last)
		return Buffer.from(`[\n${INDENT}${text}\n]${bytes.toString().slice(bytes.lastIndexOf(']') + 1)}`);
	const end = endOffsetIn(bytes, last);
	return Buffer.concat([bytes.subarray(0, end), Buffer.from(`,\n${INDENT}${text}`), bytes.subarray(end)]);
}

/** Marks messages as read or unread. Returns undefined if that changes nothing. */
export function setReadMarks(bytes: Buffer, ids: ReadonlySet<string>, isRead: boolean): Buffer | undefined {
	const parts: Buffer[] = [];
	let copiedTo = 0;
	for (const {text, message} of parseEntries(bytes)) {
		if (!message || message.isRead === isRead || !ids.has(message.id)) continue;
		const start = endOffsetIn(bytes, text) - text.length;
		const found = memberRange(text, 'read');
		// If the entry does not have a `read` member, it is inserted as the first member.
		const [from, to] = found ? [start + found[0], start + found[1]] : [start + 1, start + 1];
		parts.push(bytes.subarray(copiedTo, from), Buffer.from(found ? String(isRead) : `"read": ${isRead}, `));
		copiedTo = to;
	}
	return parts.length > 0 ? Buffer.concat([...parts, bytes.subarray(copiedTo)]) : undefined;
}

const endOffsetIn = (bytes: Buffer, part: Buffer): number => part.byteOffset - bytes.byteOffset + part.length;

const skipWhitespace = (bytes: Buffer): Buffer => {
	let at = 0;
	while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++;
	return bytes.subarray(at);
};
