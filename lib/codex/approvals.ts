import {randomBytes} from 'node:crypto';
import {Envelope, type Origin} from '../envelope.js';
import type {Log} from '../log.js';
import {type JsonObject, objectOf} from '../protocol/json.js';
import type {Outlets} from '../stage.js';
import {isDeeper} from '../well-formed.js';
import {text} from './call.js';
import {MAX_NESTED} from './repair-text.js';
import type {Reports} from './reports.js';
import type {Turns} from './turns.js';

/** What a client says to a question, in MCP's words. */
export type Reply = {
	readonly action: 'accept' | 'decline' | 'cancel';
	readonly content: JsonObject;
	/** Why it is declined, where the user has not declined it. */
	readonly reason?: string;
};

/** Something that Codex asks of whoever uses it. */
export type Question = {
	/** The id that Codex asks under, as it was written. */
	readonly id: string;
	readonly threadId: string | undefined;
	/** The thread of the session, if an agent asks that a turn of the session has started. */
	readonly rootId?: string | undefined;
	readonly message: string;
	readonly schema: JsonObject;
	/** What to tell Codex, in its own words. */
	readonly answer: (reply: Reply) => JsonObject;
};

export type ApprovalLimits = {
	/** How long the client may take to respond. Then the approval is declined. */
	readonly approvalMs?: number | undefined;
};

type ApprovalsOptions = ApprovalLimits & {
	readonly out: Outlets;
	readonly reports: Reports;
	readonly log: Log;
};

/** A request to the client that is pending. */
type Pending = Question & {readonly timer: NodeJS.Timeout};

const APPROVAL_MS = 3_600_000;
/** Questions that may be open at a time; one more is refused. */
const MAX_OPEN = 1000;
/** How many declined questions a result names. */
const MAX_DECLINED = 10;

/**
 * Questions of Codex, put to the client as MCP's elicitation.
 *
 * Codex waits for an answer without end, so each gets one: a refusal, where the client cannot be asked, gives an error
 * or does not respond in time.
 */
export class Approvals {
	readonly #out: Outlets;
	readonly #reports: Reports;
	readonly #log: Log;
	readonly #approvalMs: number;
	/** By the keys of the requests to the client. */
	readonly #open = new Map<string, Pending>();
	readonly #prefix = `codex-${randomBytes(4).toString('hex')}`;
	#asked = 0;
	/** Whether the client has promised to answer such questions. */
	canAsk = false;

	constructor({out, reports, log, approvalMs = APPROVAL_MS}: ApprovalsOptions) {
		this.#out = out;
		this.#reports = reports;
		this.#log = log;
		this.#approvalMs = approvalMs;
	}

	/** Puts a question, or declines what it asks for. Then the result of the call, if it is known, names the question. */
	ask(question: Question, origin: Origin, turns: Pick<Turns, 'current' | 'isAbandoned'>): void {
		const {message, schema} = question;
		const threadId = rootOf(question);
		if (turns.isAbandoned(threadId)) {
			this.#reports.warn(
				`Declined without asking the user, since the turn was given up: ${message}`,
				threadId,
			);
			this.#answer(question, {action: 'cancel', content: {}});
			return;
		}
		if (!this.canAsk || this.#open.size >= MAX_OPEN) {
			const reason = this.canAsk
				? `${MAX_OPEN} requests to the client are pending`
				: 'the client does not support elicitation';
			this.#reports.warn(`Declined without asking the user, since ${reason}: ${message}`, threadId);
			const call = turns.current(threadId);
			if (call && call.declined.length < MAX_DECLINED) call.declined.push({message, reason});
			this.#answer(question, {
				action: 'decline',
				content: {},
				reason: `The user was not asked, since ${reason}.`,
			});
			return;
		}
		const id = `${this.#prefix}-${++this.#asked}`;
		const key = JSON.stringify(id);
		const timer = setTimeout(() => this.#expire(key), this.#approvalMs).unref();
		this.#open.set(key, {...question, timer});
		const params = {message, requestedSchema: schema, _meta: {'io.bridge/thread': threadId}};
		this.#out.toClient(Envelope.of({jsonrpc: '2.0', id, method: 'elicitation/create', params}, origin));
	}

	/** The client has answered something. */
	answered({head: {key = ''}, body}: Envelope): void {
		const question = this.#open.get(key);
		if (!question) return;
		this.#close(key, question);
		const {action, content} = objectOf(body.result);
		const isKnown = action === 'accept' || action === 'cancel';
		// Codex would drop it, and wait for another.
		const isTooDeep = isDeeper(content, MAX_NESTED);
		if (isTooDeep)
			this.#reports.warn(
				`Declined, since the response is nested deeper than ${MAX_NESTED} levels: ${question.message}`,
				question.threadId,
			);
		this.#answer(question, {
			action: isKnown && !isTooDeep ? action : 'decline',
			content: isTooDeep ? {} : objectOf(content),
			...(body.error === undefined ? {} : {reason: 'The client failed to ask the user.'}),
		});
	}

	/** Codex does not want to know any more: of anything on a thread, or of one question. */
	withdraw(isMeant: (question: Question) => boolean, reason = 'The turn that asked is over.'): void {
		for (const [key, question] of this.#open) {
			if (!isMeant(question)) continue;
			this.#close(key, question);
			const params = {requestId: JSON.parse(key), reason};
			this.#out.toClient(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
		}
	}

	/** Whether something is asked on a thread. */
	isOpenOn(threadId: string | undefined): boolean {
		return [...this.#open.values()].some(question => question.threadId === threadId);
	}

	/** Says no to all that is asked on a thread and by the agents of its turn, such that their turns stop. */
	cancelOn(threadId: string | undefined): void {
		const meant: readonly Question[] = [...this.#open.values()].filter(
			question => rootOf(question) === threadId,
		);
		this.withdraw(question => meant.includes(question));
		for (const question of meant) this.#answer(question, {action: 'cancel', content: {}});
	}

	/** No more timers. */
	stop(): void {
		for (const {timer} of this.#open.values()) clearTimeout(timer);
	}

	#close(key: string, {timer}: Pick<Pending, 'timer'>): void {
		this.#open.delete(key);
		clearTimeout(timer);
	}

	/** The client has not responded: the approval is declined, as if the user had declined it. */
	#expire(key: string): void {
		const question = this.#open.get(key);
		if (!question) return;
		const {threadId, message} = question;
		const reason = `the client did not respond within ${this.#approvalMs / 1000} s`;
		this.#log.warn('codex.approval_expired', `An approval was declined, since ${reason}.`, {threadId});
		this.#reports.warn(`Declined, since ${reason}: ${message}`, threadId);
		this.withdraw(other => other === question, 'The time to respond is over.');
		this.#answer(question, {action: 'decline', content: {}, reason: `Declined, since ${reason}.`});
	}

	#answer({id, answer}: Question, reply: Reply): void {
		this.#out.toUpstream(Envelope.answer(id, 'result', answer(reply)));
	}
}

/** The thread of the session that a question belongs to. */
const rootOf = ({threadId, rootId = threadId}: Question): string | undefined => rootId;

/** A form with nothing to fill in: yes or no is all that is asked. */
export const yesOrNo: JsonObject = {type: 'object', properties: {}};

/** Whether a client's capabilities let it be asked by a form. One that names no way has this one. */
export function canBeAsked(capabilities: unknown): boolean {
	const {elicitation} = objectOf(capabilities);
	if (elicitation === undefined) return false;
	const ways = objectOf(elicitation);
	return 'form' in ways || !('url' in ways);
}

/** What there is to say of a command that wants leave. */
export const mayRun = (command: unknown, cwd: unknown, reason: unknown): string =>
	`Allow Codex to run \`${text(command) ?? 'a command'}\`${text(cwd) ? ` in \`${cwd}\`` : ''}?${because(reason)}`;

/** The reason that the model gives, if it gives one. */
export const because = (reason: unknown): string => (text(reason) ? ` Reason given: ${reason}` : '');

/** How many files a question names. */
const MAX_FILES = 20;

/** The files that a change is about, if they are known. */
export function named(files: readonly string[]): string {
	const rest = files.length > MAX_FILES ? `, and ${files.length - MAX_FILES} more` : '';
	return files.length === 0 ? '' : ` Files: ${files.slice(0, MAX_FILES).join(', ')}${rest}.`;
}
