import {randomUUID} from 'node:crypto';
import {BridgeError} from '../../core/errors.js';
import {firstCodePoints} from '../../util/code-points.js';
import {isObject, objectOf} from '../../util/json.js';
import {wellFormed} from '../../util/well-formed.js';
import type {InboxFormat} from './types.js';
import {ulid} from './ulid.js';

export type OutgoingMessage = {
	readonly text: string;
	readonly summary?: string | undefined;
	readonly isUrgent?: boolean | undefined;
};

/** The limit of ATM. */
const MAX_BYTES = 2 ** 20;
const MAX_SUMMARY_LENGTH = 100;

/** Validates a message. Rejects content that would make the inbox unreadable for other programs. */
export function checkOutgoingMessage({text, summary, isUrgent}: OutgoingMessage): OutgoingMessage {
	if ([text, summary ?? ''].some(each => each.includes('\0')))
		throw invalidMessageError('A message must not contain NUL characters.', 'Remove them.');
	const bytes = Buffer.byteLength(text) + Buffer.byteLength(summary ?? '');
	if (bytes > MAX_BYTES)
		throw new BridgeError(
			'ERR_MESSAGE_TOO_LARGE',
			`The message has ${bytes} bytes. The limit is ${MAX_BYTES}.`,
			'Write the text to a file and send its path.',
			{bytes, max_bytes: MAX_BYTES},
		);
	return {text: wellFormed(text), summary: summary === undefined ? undefined : wellFormed(summary), isUrgent};
}

export type InboxRecordOptions = {
	readonly from: string;
	readonly team: string;
	readonly at: Date;
	/** Whether to add the top-level `message_id` of older ATM versions, which Claude Code does not accept. */
	readonly isLegacy: boolean;
};

export function createInboxRecord(
	{text, summary, isUrgent}: OutgoingMessage,
	{from, team, at, isLegacy}: InboxRecordOptions,
) {
	const id = ulid(at);
	return {
		from,
		text,
		timestamp: at.toISOString(),
		read: false,
		summary: summary ?? summarize(text),
		...(isLegacy ? {message_id: randomUUID()} : {}),
		metadata: {atm: {messageId: id, sourceTeam: team, ...(isUrgent ? {priority: 'urgent'} : {})}},
	};
}

/** Whether a message for this recipient needs the top-level `message_id`. */
export function usesLegacyFormat(
	format: InboxFormat,
	isClaude: boolean,
	records: readonly unknown[],
): boolean {
	if (format !== 'auto') return format === 'legacy';
	return !isClaude && !records.some(isWithoutLegacyId);
}

/** Whether an entry was written by a program that does not use the top-level `message_id`. */
const isWithoutLegacyId = (record: unknown): boolean =>
	isObject(record) &&
	record.message_id === undefined &&
	(record.msgV !== undefined || isObject(objectOf(record.metadata).atm));

function summarize(text: string): string {
	const line = text.trim().replace(/\s+/g, ' ');
	const first = firstCodePoints(line, MAX_SUMMARY_LENGTH);
	if (first === line) return line;
	return `${first.replace(/\s\S*$/, '')}...`;
}

const invalidMessageError = (message: string, remedy: string): BridgeError =>
	new BridgeError('ERR_CONFIG_INVALID', message, remedy);
