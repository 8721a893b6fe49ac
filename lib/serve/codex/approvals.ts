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

/** The client's response to an approval, as an elicitation result of MCP. */
export type ApprovalReply = {
	readonly action: 'accept' | 'decline' | 'cancel';
	readonly content: JsonObject;
	/** Why the approval was declined, if the user did not decline it. */
	readonly reason?: string;
};

/** A request of Codex that the user has to approve or fill in. */
export type ApprovalRequest = {
	/** The JSON-RPC id of the request of Codex, as JSON. */
	readonly id: string;
	readonly threadId: string | undefined;
	/** The thread of the Codex session, if a subagent sent the request. */
	readonly rootThreadId?: string | undefined;
	readonly message: string;
	readonly schema: JsonObject;
	readonly toResult: (reply: ApprovalReply) => JsonObject;
};

export type ApprovalLimits = {
	/** Time limit for the client's response. The approval is declined after it. */
	readonly approvalMs?: number | undefined;
};

type ApprovalsOptions = ApprovalLimits & {
	readonly out: StageOutputs;
	readonly notifier: TurnNotifier;
	readonly log: Log;
};

type PendingApproval = ApprovalRequest & {readonly timer: NodeJS.Timeout};

const APPROVAL_TIMEOUT_MS = 3_600_000;
/** Limit on pending approvals. Further ones are declined. */
const MAX_PENDING = 1000;
/** Limit on declined approvals in the result of a call. */
const MAX_DECLINED = 10;

/**
 * Forwards approvals of Codex to the client as MCP elicitation.
 *
 * Codex waits indefinitely for a response, so it always gets one. An approval is declined if the client does
 * not support elicitation, responds with an error or exceeds the time limit.
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
	/** Whether the client declared support for form elicitation. */
	isElicitationSupported = false;

	constructor({out, notifier, log, approvalMs = APPROVAL_TIMEOUT_MS}: ApprovalsOptions) {
		this.#out = out;
		this.#notifier = notifier;
		this.#log = log;
		this.#timeoutMs = approvalMs;
	}

	/**
	 * Sends an approval to the client, or declines it. A declined approval is listed in the result of its call.
	 */
	request(
		approval: ApprovalRequest,
		origin: MessageOrigin,
		turns: Pick<CodexTurns, 'current' | 'isAbandoned'>,
	): void {
		const {message, schema} = approval;
		const threadId = rootThreadOf(approval);
		if (turns.isAbandoned(threadId)) {
			this.#notifier.warn(
				`Declined without asking the user, since the turn was abandoned: ${message}`,
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

	handleResponse({head: {key = ''}, body}: Envelope): void {
		const approval = this.#pending.get(key);
		if (!approval) return;
		this.#remove(key, approval);
		const {action, content} = objectOf(body.result);
		const isKnown = action === 'accept' || action === 'cancel';
		// Codex would drop such a response and keep waiting.
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

	/** Withdraws the matching requests from the client. Sends nothing to Codex. */
	cancelRequests(
		matches: (approval: ApprovalRequest) => boolean,
		reason = 'The turn that sent this request has ended.',
	): void {
		for (const [key, approval] of this.#pending) {
			if (!matches(approval)) continue;
			this.#remove(key, approval);
			const params = {requestId: JSON.parse(key), reason};
			this.#out.toClient(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
		}
	}

	hasPendingOn(threadId: string | undefined): boolean {
		return [...this.#pending.values()].some(approval => approval.threadId === threadId);
	}

	/** Cancels all approvals of a thread and of the subagents of its turn, which stops their turns. */
	abortThread(threadId: string | undefined): void {
		const matching: readonly ApprovalRequest[] = [...this.#pending.values()].filter(
			approval => rootThreadOf(approval) === threadId,
		);
		this.cancelRequests(approval => matching.includes(approval));
		for (const approval of matching) this.#reply(approval, {action: 'cancel', content: {}});
	}

	stop(): void {
		for (const {timer} of this.#pending.values()) clearTimeout(timer);
	}

	#remove(key: string, {timer}: Pick<PendingApproval, 'timer'>): void {
		this.#pending.delete(key);
		clearTimeout(timer);
	}

	#expire(key: string): void {
		const approval = this.#pending.get(key);
		if (!approval) return;
		const {threadId, message} = approval;
		const reason = `the client did not respond within ${this.#timeoutMs / 1000} s`;
		this.#log.warn('codex.approval_expired', `An approval was declined, since ${reason}.`, {threadId});
		this.#notifier.warn(`Declined, since ${reason}: ${message}`, threadId);
		this.cancelRequests(other => other === approval, 'The time limit for a response has passed.');
		this.#reply(approval, {action: 'decline', content: {}, reason: `Declined, since ${reason}.`});
	}

	#reply({id, toResult}: ApprovalRequest, reply: ApprovalReply): void {
		this.#out.toUpstream(Envelope.response(id, 'result', toResult(reply)));
	}
}

/** The thread of the Codex session that an approval belongs to. */
const rootThreadOf = ({threadId, rootThreadId = threadId}: ApprovalRequest): string | undefined =>
	rootThreadId;

/** A form without fields, for approvals that are only accepted or declined. */
export const emptyFormSchema: JsonObject = {type: 'object', properties: {}};

/** Whether a client supports form elicitation. Per MCP, an empty capability means form mode. */
export function supportsFormElicitation(capabilities: unknown): boolean {
	const {elicitation} = objectOf(capabilities);
	if (elicitation === undefined) return false;
	const modes = objectOf(elicitation);
	return 'form' in modes || !('url' in modes);
}

export const commandApprovalMessage = (command: unknown, cwd: unknown, reason: unknown): string =>
	`Allow Codex to run \`${stringOrUndefined(command) ?? 'a command'}\`${stringOrUndefined(cwd) ? ` in \`${cwd}\`` : ''}?${reasonSuffix(reason)}`;

export const reasonSuffix = (reason: unknown): string =>
	stringOrUndefined(reason) ? ` Reason: ${reason}` : '';

const MAX_FILES = 20;

export function filesSuffix(files: readonly string[]): string {
	const rest = files.length > MAX_FILES ? `, and ${files.length - MAX_FILES} more` : '';
	return files.length === 0 ? '' : ` Files: ${files.slice(0, MAX_FILES).join(', ')}${rest}.`;
}
