import {redactMessage, redactStart} from '../../core/redact.js';
import type {AuditEntry} from './types.js';

const MAX_SUMMARY = 200;

/** One line of the audit file: what is not given is not in it, texts are short, and secrets are taken out. */
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

/** The first characters, redacted: callers may send any text for any field. */
const redactedSummary = (text: string): string => redactStart(text, MAX_SUMMARY);

const optionalSummary = (text: string | undefined): string | undefined =>
	text === undefined ? undefined : redactedSummary(text);
