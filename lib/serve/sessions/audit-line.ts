import {redactMessage, redactStart} from '../../core/redact.js';
import type {AuditEntry} from './types.js';

const MAX_SUMMARY = 200;

/** Formats a line of the audit file. Omits undefined fields, truncates texts and redacts secrets. */
export function formatAuditLine(entry: AuditEntry, at: Date): string {
	const {event, correlationId, codexId, threadId, identity, team, recipient, outcome, prompt, message} =
		entry;
	const line = {
		timestamp: at.toISOString(),
		event_type: event,
		correlation_id: correlationId,
		codex_id: optionalSummary(codexId),
		thread_id: optionalSummary(threadId),
		identity: optionalSummary(identity),
		team,
		recipient: optionalSummary(recipient),
		outcome,
		prompt_summary: optionalSummary(prompt),
		message_summary: optionalSummary(message),
		...(entry.details ? {details: redactedDetails(entry.details)} : {}),
	};
	return `${redactMessage(Buffer.from(JSON.stringify(line))).toString()}\n`;
}

const redactedDetails = (details: NonNullable<AuditEntry['details']>): object =>
	Object.fromEntries(
		Object.entries(details).map(([key, value]) => [
			key,
			typeof value === 'string' ? redactedSummary(value) : isList(value) ? value.map(redactedSummary) : value,
		]),
	);

const isList = (value: unknown): value is readonly string[] => Array.isArray(value);

/** Truncates and redacts a text: clients may send any text in any field. */
const redactedSummary = (text: string): string => redactStart(text, MAX_SUMMARY);

const optionalSummary = (text: string | undefined): string | undefined =>
	text === undefined ? undefined : redactedSummary(text);
