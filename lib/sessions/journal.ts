import {randomUUID} from 'node:crypto';
import type {Log} from '../log.js';
import {shortened} from '../printable.js';
import {type JsonObject, objectOf} from '../protocol/json.js';
import {redactText} from '../store/redact.js';
import type {Audit} from './audit-file.js';
import type {Ask} from './job.js';
import type {Refusal, RefusalKind} from './refusal.js';
import type {Session} from './session.js';
import type {TurnReport} from './turn-report.js';
import type {AuditEntry} from './types.js';

/** Rejections that show a conflict or a limit, rather than a mistake in a call. */
const warned: ReadonlySet<RefusalKind> = new Set(['identity_conflict', 'max_sessions', 'overloaded']);

/** Writes calls, turns and rejections to the audit log and, without their texts, to the structured log. */
export class Journal {
	readonly #audit: Pick<Audit, 'write'>;
	readonly #team: string;
	readonly #log: Log | undefined;

	constructor(audit: Pick<Audit, 'write'>, team: string, log?: Log) {
		this.#audit = audit;
		this.#team = team;
		this.#log = log;
	}

	/** Codex is asked for a turn. */
	asked(tool: string, ask: Ask): void {
		const {session, prompt, correlationId, turn, isResume, details} = ask;
		this.#write({
			event: tool,
			correlationId,
			outcome: 'started',
			prompt,
			...about(session),
			details: {source: turn.source, ...(isResume ? {resume: true} : {}), ...details},
		});
		const fields = {...namesOf(session), source: turn.source, correlation_id: correlationId};
		this.#log?.debug('turn.started', `A turn of ${session.identity} is sent to Codex.`, fields);
	}

	/** Codex has answered. */
	answered(tool: string, {session, correlationId, turn}: Ask, {status, threadId}: TurnReport): void {
		const named = threadId ?? session.threadId ?? undefined;
		const details = {source: turn.source};
		this.#write({event: tool, correlationId, outcome: status, ...about(session), threadId: named, details});
		const fields = {...namesOf(session), source: turn.source, correlation_id: correlationId};
		this.#log?.debug('turn.ended', `A turn of ${session.identity} has ended: ${status}.`, fields);
	}

	/** A turn was told to stop, or never ran. */
	noted(event: string, {session, correlationId}: Ask, outcome: string): void {
		this.#write({event, correlationId, outcome, ...about(session)});
		const fields = {...namesOf(session), correlation_id: correlationId};
		const {identity} = session;
		if (event === 'timeout')
			this.#log?.warn('turn.timeout', `A turn of ${identity} timed out and was stopped.`, fields);
		else
			this.#log?.debug(`turn.${event}`, `A turn of ${identity} is stopped or not run: ${outcome}.`, fields);
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
			event: 'refusal',
			correlationId: randomUUID(),
			outcome: 'refused',
			message,
			...(actor ?? (isClaim ? {...named, identity: undefined} : named)),
			prompt: text(prompt),
			recipient: text(to),
			details: {tool: text(name) ?? '', code, kind, ...(isClaim ? {claimed_identity: claimed} : {})},
		});
		const fields = {tool: shortened(text(name) ?? ''), code, kind};
		this.#log?.[warned.has(kind) ? 'warn' : 'debug']('call.rejected', redactText(message), fields);
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
			event: tool,
			correlationId: randomUUID(),
			outcome: 'completed',
			...caller,
			recipient: text(to) ?? text(args.team),
			message: text(args.message),
			details: {
				...(typeof messageId === 'string' ? {message_id: messageId} : {}),
				...(typeof count === 'number' ? {messages: count} : {}),
			},
		});
		const {identity, codexId} = caller;
		this.#log?.debug('mail.tool', `${identity} called ${tool}.`, {identity, codex_id: codexId});
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

const namesOf = ({codexId, identity, threadId}: Session) => ({
	codex_id: codexId,
	identity,
	...(threadId === null ? {} : {thread_id: threadId}),
});

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
