import {randomBytes} from 'node:crypto';
import {Envelope, type MessageOrigin} from '../../core/envelope.js';
import type {Log} from '../../core/log.js';
import type {StageOutputs} from '../../core/stage.js';
import {type JsonObject, objectOf} from '../../util/json.js';
import {isDeeperThan} from '../../util/well-formed.js';
import type {CodexTurns} from './codex-turns.js';
import {MAX_CODEX_NESTING} from './repair-text.js';
import {stringOrUndefined} from './turn-call.js';
import type {TurnNotifier} from './turn-notifier.js';

/** What a client says to a question, in MCP's words. */
export type ApprovalReply = {
	readonly action: 'accept' | 'decline' | 'cancel';
	readonly content: JsonObject;
	/** Why it is declined, where the user has not declined it. */
	readonly reason?: string;
};

/** Something that Codex asks of whoever uses it. */
export type ApprovalRequest = {
	/** The id that Codex asks under, as it was written. */
	readonly id: string;
	readonly threadId: string | undefined;
	/** The thread of the session, if an agent asks that a turn of the session has started. */
	readonly rootThreadId?: string | undefined;
	readonly message: string;
	readonly schema: JsonObject;
	/** What to tell Codex, in its own words. */
	readonly toResult: (reply: ApprovalReply) => JsonObject;
};

export type ApprovalLimits = {
	/** How long the client may take to respond. Then the approval is declined. */
	readonly approvalMs?: number | undefined;
};

type ApprovalsOptions = ApprovalLimits & {
	readonly out: StageOutputs;
	readonly notifier: TurnNotifier;
	readonly log: Log;
};

/** A request to the client that is pending. */
type PendingApproval = ApprovalRequest & {readonly timer: NodeJS.Timeout};

const APPROVAL_TIMEOUT_MS = 3_600_000;
/** Questions that may be open at a time; one more is refused. */
const MAX_PENDING = 1000;
/** How many declined questions a result names. */
const MAX_DECLINED = 10;

/**
 * Questions of Codex, put to the client as MCP's elicitation.
 *
 * Codex waits for an answer without end, so each gets one: a refusal, where the client cannot be asked, gives an error
 * or does not respond in time.
 */
export class Approvals {
	readonly #out: StageOutputs;
	readonly #notifier: TurnNotifier;
	readonly #log: Log;
	readonly #timeoutMs: number;
	/** By the keys of the requests to the client. */
	readonly #pending = new Map<string, PendingApproval>();
	readonly #prefix = `codex-${randomBytes(4).toString('hex')}`;
	#lastId = 0;
	/** Whether the client has promised to answer such questions. */
	isElicitationSupported = false;

	constructor({out, notifier, log, approvalMs = APPROVAL_TIMEOUT_MS}: ApprovalsOptions) {
		this.#out = out;
		this.#notifier = notifier;
		this.#log = log;
		this.#timeoutMs = approvalMs;
	}

	/** Puts a question, or declines what it asks for. Then the result of the call, if it is known, names the question. */
	request(
		approval: ApprovalRequest,
		origin: MessageOrigin,
		turns: Pick<CodexTurns, 'current' | 'isAbandoned'>,
	): void {
		const {message, schema} = approval;
		const threadId = rootThreadOf(approval);
		if (turns.isAbandoned(threadId)) {
			this.#notifier.warn(
				`Declined without asking the user, since the turn was given up: ${message}`,
				threadId,
			);
			this.#reply(approval, {action: 'cancel', content: {}});
			return;
		}
		if (!this.isElicitationSupported || this.#pending.size >= MAX_PENDING) {
			const reason = this.isElicitationSupported
				? `${MAX_PENDING} requests to the client are pending`
				: 'the client does not support elicitation';
			this.#notifier.warn(`Declined without asking the user, since ${reason}: ${message}`, threadId);
			const call = turns.current(threadId);
			if (call && call.declined.length < MAX_DECLINED) call.declined.push({message, reason});
			this.#reply(approval, {
				action: 'decline',
				content: {},
				reason: `The user was not asked, since ${reason}.`,
			});
			return;
		}
		const id = `${this.#prefix}-${++this.#lastId}`;
		const key = JSON.stringify(id);
		const timer = setTimeout(() => this.#expire(key), this.#timeoutMs).unref();
		this.#pending.set(key, {...approval, timer});
		const params = {message, requestedSchema: schema, _meta: {'io.bridge/thread': threadId}};
		this.#out.toClient(Envelope.of({jsonrpc: '2.0', id, method: 'elicitation/create', params}, origin));
	}

	/** The client has answered something. */
	handleResponse({head: {key = ''}, body}: Envelope): void {
		const approval = this.#pending.get(key);
		if (!approval) return;
		this.#remove(key, approval);
		const {action, content} = objectOf(body.result);
		const isKnown = action === 'accept' || action === 'cancel';
		// Codex would drop it, and wait for another.
		const isTooDeep = isDeeperThan(content, MAX_CODEX_NESTING);
		if (isTooDeep)
			this.#notifier.warn(
				`Declined, since the response is nested deeper than ${MAX_CODEX_NESTING} levels: ${approval.message}`,
				approval.threadId,
			);
		this.#reply(approval, {
			action: isKnown && !isTooDeep ? action : 'decline',
			content: isTooDeep ? {} : objectOf(content),
			...(body.error === undefined ? {} : {reason: 'The client failed to ask the user.'}),
		});
	}

	/** Codex does not want to know any more: of anything on a thread, or of one question. */
	cancelRequests(
		matches: (approval: ApprovalRequest) => boolean,
		reason = 'The turn that asked is over.',
	): void {
		for (const [key, approval] of this.#pending) {
			if (!matches(approval)) continue;
			this.#remove(key, approval);
			const params = {requestId: JSON.parse(key), reason};
			this.#out.toClient(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
		}
	}

	/** Whether something is asked on a thread. */
	hasPendingOn(threadId: string | undefined): boolean {
		return [...this.#pending.values()].some(approval => approval.threadId === threadId);
	}

	/** Says no to all that is asked on a thread and by the agents of its turn, such that their turns stop. */
	abortThread(threadId: string | undefined): void {
		const matching: readonly ApprovalRequest[] = [...this.#pending.values()].filter(
			approval => rootThreadOf(approval) === threadId,
		);
		this.cancelRequests(approval => matching.includes(approval));
		for (const approval of matching) this.#reply(approval, {action: 'cancel', content: {}});
	}

	/** No more timers. */
	stop(): void {
		for (const {timer} of this.#pending.values()) clearTimeout(timer);
	}

	#remove(key: string, {timer}: Pick<PendingApproval, 'timer'>): void {
		this.#pending.delete(key);
		clearTimeout(timer);
	}

	/** The client has not responded: the approval is declined, as if the user had declined it. */
	#expire(key: string): void {
		const approval = this.#pending.get(key);
		if (!approval) return;
		const {threadId, message} = approval;
		const reason = `the client did not respond within ${this.#timeoutMs / 1000} s`;
		this.#log.warn('codex.approval_expired', `An approval was declined, since ${reason}.`, {threadId});
		this.#notifier.warn(`Declined, since ${reason}: ${message}`, threadId);
		this.cancelRequests(other => other === approval, 'The time to respond is over.');
		this.#reply(approval, {action: 'decline', content: {}, reason: `Declined, since ${reason}.`});
	}

	#reply({id, toResult}: ApprovalRequest, reply: ApprovalReply): void {
		this.#out.toUpstream(Envelope.response(id, 'result', toResult(reply)));
	}
}

/** The thread of the session that a question belongs to. */
const rootThreadOf = ({threadId, rootThreadId = threadId}: ApprovalRequest): string | undefined =>
	rootThreadId;

/** A form with nothing to fill in: yes or no is all that is asked. */
export const emptyFormSchema: JsonObject = {type: 'object', properties: {}};

/** Whether a client's capabilities let it be asked by a form. One that names no way has this one. */
export function supportsFormElicitation(capabilities: unknown): boolean {
	const {elicitation} = objectOf(capabilities);
	if (elicitation === undefined) return false;
	const modes = objectOf(elicitation);
	return 'form' in modes || !('url' in modes);
}

/** What there is to say of a command that wants leave. */
export const commandApprovalMessage = (command: unknown, cwd: unknown, reason: unknown): string =>
	`Allow Codex to run \`${stringOrUndefined(command) ?? 'a command'}\`${stringOrUndefined(cwd) ? ` in \`${cwd}\`` : ''}?${reasonSuffix(reason)}`;

/** The reason that the model gives, if it gives one. */
export const reasonSuffix = (reason: unknown): string =>
	stringOrUndefined(reason) ? ` Reason given: ${reason}` : '';

/** How many files a question names. */
const MAX_FILES = 20;

/** The files that a change is about, if they are known. */
export function filesSuffix(files: readonly string[]): string {
	const rest = files.length > MAX_FILES ? `, and ${files.length - MAX_FILES} more` : '';
	return files.length === 0 ? '' : ` Files: ${files.slice(0, MAX_FILES).join(', ')}${rest}.`;
}
