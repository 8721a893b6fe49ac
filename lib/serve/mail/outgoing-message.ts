import {randomUUID} from 'node:crypto';
import {BridgeError} from '../../core/errors.js';
import {firstCodePoints} from '../../util/code-points.js';
import {isObject, objectOf} from '../../util/json.js';
import {wellFormed} from '../../util/well-formed.js';
import type {InboxFormat} from './types.js';
import {ulid} from './ulid.js';

/** What somebody wants to say. */
export type OutgoingMessage = {
	readonly text: string;
	readonly summary?: string | undefined;
	readonly isUrgent?: boolean | undefined;
};

/** What ATM takes. */
const MAX_BYTES = 2 ** 20;
const MAX_SUMMARY_LENGTH = 100;

/** The letter, if it may be one: other programs cannot read an inbox any more with what this refuses. */
export function checkOutgoingMessage({text, summary, isUrgent}: OutgoingMessage): OutgoingMessage {
	if ([text, summary ?? ''].some(each => each.includes('\0')))
		throw invalidMessageError('A message must not hold NUL characters.', 'Leave them out.');
	const bytes = Buffer.byteLength(text) + Buffer.byteLength(summary ?? '');
	if (bytes > MAX_BYTES)
		throw new BridgeError(
			'ERR_MESSAGE_TOO_LARGE',
			`The message has ${bytes} bytes, and an inbox takes ${MAX_BYTES}.`,
			'Put it into a file, and send where that is.',
			{bytes, max_bytes: MAX_BYTES},
		);
	return {text: wellFormed(text), summary: summary === undefined ? undefined : wellFormed(summary), isUrgent};
}

export type InboxRecordOptions = {
	readonly from: string;
	readonly team: string;
	readonly at: Date;
	/** Whether ATM's old id stands among the top-level members, which Claude Code cannot bear. */
	readonly isLegacy: boolean;
};

/** A letter as it is written into an inbox. */
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

/** Whether the recipient is to get ATM's old id. */
export function usesLegacyFormat(
	format: InboxFormat,
	isClaude: boolean,
	records: readonly unknown[],
): boolean {
	if (format !== 'auto') return format === 'legacy';
	return !isClaude && !records.some(isWithoutLegacyId);
}

/** Whether an entry was written by somebody who does without it. */
const isWithoutLegacyId = (record: unknown): boolean =>
	isObject(record) &&
	record.message_id === undefined &&
	(record.msgV !== undefined || isObject(objectOf(record.metadata).atm));

/** The first words. */
function summarize(text: string): string {
	const line = text.trim().replace(/\s+/g, ' ');
	const first = firstCodePoints(line, MAX_SUMMARY_LENGTH);
	if (first === line) return line;
	return `${first.replace(/\s\S*$/, '')}...`;
}

const invalidMessageError = (message: string, remedy: string): BridgeError =>
	new BridgeError('ERR_CONFIG_INVALID', message, remedy);
