import {redactMessage, redactText} from '../store/redact.js';
import {firstCodePoints} from './code-points.js';
import type {AuditEntry} from './types.js';

const MAX_SUMMARY = 200;
/** What comes later in a text cannot get into its summary, however much before it is taken out. */
const MAX_LOOKED_AT = 8000;

/** One line of the audit file: what is not given is not in it, texts are short, and secrets are taken out. */
export function auditLine(entry: AuditEntry, at: Date): string {
	const {event, correlationId, codexId, threadId, identity, team, recipient, outcome, prompt, message} =
		entry;
	const line = {
		timestamp: at.toISOString(),
		event_type: event,
		correlation_id: correlationId,
		codex_id: codexId,
		thread_id: threadId,
		...{identity, team, recipient, outcome},
		prompt_summary: prompt === undefined ? undefined : summaryOf(prompt),
		message_summary: message === undefined ? undefined : summaryOf(message),
		...(entry.details ? {details: detailsOf(entry.details)} : {}),
	};
	return `${redactMessage(Buffer.from(JSON.stringify(line))).toString()}\n`;
}

const detailsOf = (details: NonNullable<AuditEntry['details']>): object =>
	Object.fromEntries(
		Object.entries(details).map(([key, value]) => [
			key,
			typeof value === 'string' ? summaryOf(value) : value,
		]),
	);

/** Secrets are taken out first: half of one would not be known for what it is. */
const summaryOf = (text: string): string =>
	firstCodePoints(redactText(text.slice(0, MAX_LOOKED_AT)), MAX_SUMMARY);
