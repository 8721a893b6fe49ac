import {randomUUID} from 'node:crypto';
import {type JsonObject, objectOf} from '../protocol/json.js';
import type {Audit} from './audit-file.js';
import type {Ask} from './job.js';
import type {Refusal} from './refusal.js';
import type {Session} from './session.js';
import type {TurnReport} from './turn-report.js';
import type {AuditEntry} from './types.js';

/** Writes into the audit what is done for sessions, and what is refused. */
export class Journal {
	readonly #audit: Pick<Audit, 'write'>;
	readonly #team: string;

	constructor(audit: Pick<Audit, 'write'>, team: string) {
		this.#audit = audit;
		this.#team = team;
	}

	/** Codex is asked for a turn. */
	asked(tool: string, ask: Ask): void {
		const {session, prompt, correlationId, turn, isResume} = ask;
		this.#write({
			...{event: tool, correlationId, outcome: 'started', prompt, ...about(session)},
			details: {source: turn.source, ...(isResume ? {resume: true} : {})},
		});
	}

	/** Codex has answered. */
	answered(tool: string, {session, correlationId, turn}: Ask, {status, threadId}: TurnReport): void {
		const named = threadId ?? session.threadId ?? undefined;
		const details = {source: turn.source};
		this.#write({event: tool, correlationId, outcome: status, ...about(session), threadId: named, details});
	}

	/** A turn was told to stop, or never ran. */
	noted(event: string, {session, correlationId}: Ask, outcome: string): void {
		this.#write({event, correlationId, outcome, ...about(session)});
	}

	/** A call was refused before it had anything to do with Codex. */
	refused(params: JsonObject, {code, kind, message, actor, facts}: Refusal): void {
		const {name, arguments: args} = params;
		const {codex_id: codexId, threadId, identity, prompt, to} = objectOf(args);
		const named = {codexId: text(codexId), threadId: text(threadId), identity: text(identity)};
		// A name that a call for mail claims is not the name of its caller.
		const isMail = text(name)?.startsWith('atm_') ?? false;
		const claimed = text(identity) ?? text(facts.claimed_identity);
		const isClaim = isMail && claimed !== undefined && claimed !== actor?.identity;
		this.#write({
			...{event: 'refusal', correlationId: randomUUID(), outcome: 'refused', message},
			...(actor ?? (isClaim ? {...named, identity: undefined} : named)),
			...{prompt: text(prompt), recipient: text(to)},
			details: {tool: text(name) ?? '', code, kind, ...(isClaim ? {claimed_identity: claimed} : {})},
		});
	}

	/** A session was closed, or asked to be. */
	closed(
		correlationId: string,
		session: {readonly codexId: string; readonly identity: string},
		outcome: string,
	): void {
		this.#write({
			event: 'codex_close',
			correlationId,
			outcome,
			codexId: session.codexId,
			identity: session.identity,
		});
	}

	/** Mail was sent, read or counted. */
	mailed(
		tool: string,
		caller: Pick<AuditEntry, 'identity' | 'codexId' | 'threadId'>,
		args: JsonObject,
		result: JsonObject,
	): void {
		const {to, message_id: messageId, messages, sent, unread} = result;
		const count = Array.isArray(messages) ? messages.length : Array.isArray(sent) ? sent.length : unread;
		this.#write({
			...{event: tool, correlationId: randomUUID(), outcome: 'completed', ...caller},
			...{recipient: text(to) ?? text(args.team), message: text(args.message)},
			details: {
				...(typeof messageId === 'string' ? {message_id: messageId} : {}),
				...(typeof count === 'number' ? {messages: count} : {}),
			},
		});
	}

	#write(entry: AuditEntry): void {
		this.#audit.write({...entry, team: this.#team});
	}
}

const about = ({codexId, identity, threadId}: Session) => ({
	codexId,
	identity,
	threadId: threadId ?? undefined,
});

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
