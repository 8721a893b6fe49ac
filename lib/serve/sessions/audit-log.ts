import {randomUUID} from 'node:crypto';
import type {Log} from '../../core/log.js';
import {redactText} from '../../core/redact.js';
import {type JsonObject, objectOf} from '../../util/json.js';
import {shortened} from '../../util/printable.js';
import type {AuditFile} from './audit-file.js';
import type {CodexSession} from './codex-session.js';
import type {ToolError, ToolErrorKind} from './tool-error.js';
import type {TurnReport} from './turn-report.js';
import type {TurnRequest} from './turn-run.js';
import type {AuditEntry} from './types.js';

/** Errors caused by a conflict or a limit rather than by an invalid call. They are logged as warnings. */
const warnedKinds: ReadonlySet<ToolErrorKind> = new Set(['identity_conflict', 'max_sessions', 'overloaded']);

/** Writes calls, turns and rejections to the audit file, and to the structured log without prompts. */
export class AuditLog {
	readonly #file: Pick<AuditFile, 'write'>;
	readonly #team: string;
	readonly #log: Log | undefined;

	constructor(file: Pick<AuditFile, 'write'>, team: string, log?: Log) {
		this.#file = file;
		this.#team = team;
		this.#log = log;
	}

	turnStarted(tool: string, request: TurnRequest): void {
		const {session, prompt, correlationId, turn, isResume, details} = request;
		this.#write({
			event: tool,
			correlationId,
			outcome: 'started',
			prompt,
			...auditIds(session),
			details: {source: turn.source, ...(isResume ? {resume: true} : {}), ...details},
		});
		const fields = {...logIds(session), source: turn.source, correlation_id: correlationId};
		this.#log?.debug('turn.started', `Sending a turn of ${session.identity} to Codex.`, fields);
	}

	turnEnded(tool: string, {session, correlationId, turn}: TurnRequest, {status, threadId}: TurnReport): void {
		const reportedThreadId = threadId ?? session.threadId ?? undefined;
		const details = {source: turn.source};
		this.#write({
			event: tool,
			correlationId,
			outcome: status,
			...auditIds(session),
			threadId: reportedThreadId,
			details,
		});
		const fields = {...logIds(session), source: turn.source, correlation_id: correlationId};
		this.#log?.debug('turn.ended', `A turn of ${session.identity} has ended: ${status}.`, fields);
	}

	/** Records a turn that was stopped or never ran. `event` is `timeout`, `cancel` or `refusal`. */
	turnStopped(event: string, {session, correlationId}: TurnRequest, outcome: string): void {
		this.#write({event, correlationId, outcome, ...auditIds(session)});
		const fields = {...logIds(session), correlation_id: correlationId};
		const {identity} = session;
		if (event === 'timeout')
			this.#log?.warn('turn.timeout', `A turn of ${identity} timed out and was stopped.`, fields);
		else
			this.#log?.debug(`turn.${event}`, `A turn of ${identity} was stopped or rejected: ${outcome}.`, fields);
	}

	/** Records a call that bridge rejected. It never reached Codex. */
	callRejected(params: JsonObject, {code, kind, message, actor, details: errorDetails}: ToolError): void {
		const {name, arguments: args} = params;
		const {codex_id: codexId, threadId, identity, prompt, to} = objectOf(args);
		const argumentIds = {
			codexId: stringOrUndefined(codexId),
			threadId: stringOrUndefined(threadId),
			identity: stringOrUndefined(identity),
		};
		// The identity argument of a mail tool is a claim, not proof of the caller's identity.
		const isMail = stringOrUndefined(name)?.startsWith('atm_') ?? false;
		const claimedIdentity = stringOrUndefined(identity) ?? stringOrUndefined(errorDetails.claimed_identity);
		const isUnprovenClaim = isMail && claimedIdentity !== undefined && claimedIdentity !== actor?.identity;
		this.#write({
			event: 'refusal',
			correlationId: randomUUID(),
			outcome: 'refused',
			message,
			...(actor ?? (isUnprovenClaim ? {...argumentIds, identity: undefined} : argumentIds)),
			prompt: stringOrUndefined(prompt),
			recipient: stringOrUndefined(to),
			details: {
				tool: stringOrUndefined(name) ?? '',
				code,
				kind,
				...(isUnprovenClaim ? {claimed_identity: claimedIdentity} : {}),
			},
		});
		const fields = {tool: shortened(stringOrUndefined(name) ?? ''), code, kind};
		this.#log?.[warnedKinds.has(kind) ? 'warn' : 'debug']('call.rejected', redactText(message), fields);
	}

	/** Records each step of closing a session. */
	sessionClosed(
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

	mailToolCalled(
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
			recipient: stringOrUndefined(to) ?? stringOrUndefined(args.team),
			message: stringOrUndefined(args.message),
			details: {
				...(typeof messageId === 'string' ? {message_id: messageId} : {}),
				...(typeof count === 'number' ? {messages: count} : {}),
			},
		});
		const {identity, codexId} = caller;
		this.#log?.debug('mail.tool', `${identity} called ${tool}.`, {identity, codex_id: codexId});
	}

	#write(entry: AuditEntry): void {
		this.#file.write({...entry, team: this.#team});
	}
}

const auditIds = ({codexId, identity, threadId}: CodexSession) => ({
	codexId,
	identity,
	threadId: threadId ?? undefined,
});

const logIds = ({codexId, identity, threadId}: CodexSession) => ({
	codex_id: codexId,
	identity,
	...(threadId === null ? {} : {thread_id: threadId}),
});

const stringOrUndefined = (value: unknown): string | undefined =>
	typeof value === 'string' ? value : undefined;
