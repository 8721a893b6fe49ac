import {redactMessage, redactStart} from '../store/redact.js';
import type {AuditEntry} from './types.js';

const MAX_SUMMARY = 200;

/** One line of the audit file: what is not given is not in it, texts are short, and secrets are taken out. */
export function auditLine(entry: AuditEntry, at: Date): string {
	const {event, correlationId, codexId, threadId, identity, team, recipient, outcome, prompt, message} =
		entry;
	const line = {
		timestamp: at.toISOString(),
		event_type: event,
		correlation_id: correlationId,
		codex_id: optional(codexId),
		thread_id: optional(threadId),
		identity: optional(identity),
		team,
		recipient: optional(recipient),
		outcome,
		prompt_summary: optional(prompt),
		message_summary: optional(message),
		...(entry.details ? {details: detailsOf(entry.details)} : {}),
	};
	return `${redactMessage(Buffer.from(JSON.stringify(line))).toString()}\n`;
}

const detailsOf = (details: NonNullable<AuditEntry['details']>): object =>
	Object.fromEntries(
		Object.entries(details).map(([key, value]) => [
			key,
			typeof value === 'string' ? summaryOf(value) : isList(value) ? value.map(summaryOf) : value,
		]),
	);

const isList = (value: unknown): value is readonly string[] => Array.isArray(value);

/** The first characters, redacted: callers may send any text for any field. */
const summaryOf = (text: string): string => redactStart(text, MAX_SUMMARY);

const optional = (text: string | undefined): string | undefined =>
	text === undefined ? undefined : summaryOf(text);
