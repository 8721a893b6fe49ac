import {randomBytes} from 'node:crypto';
import {Envelope, type Origin} from '../envelope.js';
import {type JsonObject, objectOf} from '../protocol/json.js';
import type {Outlets} from '../stage.js';
import {text} from './call.js';
import type {Reports} from './reports.js';

/** What a client says to a question, in MCP's words. */
export type Reply = {readonly action: 'accept' | 'decline' | 'cancel'; readonly content: JsonObject};

/** Something that Codex asks of whoever uses it. */
export type Question = {
	/** The id that Codex asks under, as it was written. */
	readonly id: string;
	readonly threadId: string | undefined;
	readonly message: string;
	readonly schema: JsonObject;
	/** What to tell Codex, in its own words. */
	readonly answer: (reply: Reply) => JsonObject;
};

/** Questions that may be open at a time; one more is refused. */
const MAX_OPEN = 1000;

/**
 * Questions of Codex, put to the client as MCP's elicitation.
 *
 * Codex waits for an answer without end, so each gets one: a refusal, where the client cannot be asked or gives an error.
 */
export class Approvals {
	readonly #out: Outlets;
	readonly #reports: Reports;
	/** By the keys of the requests to the client. */
	readonly #open = new Map<string, Question>();
	readonly #prefix = `codex-${randomBytes(4).toString('hex')}`;
	#asked = 0;
	/** Whether the client has promised to answer such questions. */
	canAsk = false;

	constructor(out: Outlets, reports: Reports) {
		this.#out = out;
		this.#reports = reports;
	}

	/** Puts a question, or refuses what it asks for. */
	ask(question: Question, origin: Origin): void {
		const {threadId, message, schema} = question;
		if (!this.canAsk || this.#open.size >= MAX_OPEN) {
			const reason = this.canAsk
				? `${MAX_OPEN} questions are open`
				: 'the client cannot be asked (elicitation)';
			this.#reports.warn(`Refused, since ${reason}: ${message}`, threadId);
			this.#answer(question, {action: 'decline', content: {}});
			return;
		}
		const id = `${this.#prefix}-${++this.#asked}`;
		this.#open.set(JSON.stringify(id), question);
		const params = {message, requestedSchema: schema, _meta: {'io.bridge/thread': threadId}};
		this.#out.toClient(Envelope.of({jsonrpc: '2.0', id, method: 'elicitation/create', params}, origin));
	}

	/** The client has answered something. */
	answered({head: {key = ''}, body}: Envelope): void {
		const question = this.#open.get(key);
		if (!question) return;
		this.#open.delete(key);
		const {action, content} = objectOf(body.result);
		const isKnown = action === 'accept' || action === 'cancel';
		this.#answer(question, {action: isKnown ? action : 'decline', content: objectOf(content)});
	}

	/** Codex does not want to know any more: of anything on a thread, or of one question. */
	withdraw(isMeant: (question: Question) => boolean): void {
		for (const [key, question] of this.#open) {
			if (!isMeant(question)) continue;
			this.#open.delete(key);
			const params = {requestId: JSON.parse(key), reason: 'The turn that asked is over.'};
			this.#out.toClient(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
		}
	}

	/** Whether something is asked on a thread. */
	isOpenOn(threadId: string | undefined): boolean {
		return [...this.#open.values()].some(question => question.threadId === threadId);
	}

	/** Says no to all that is asked on a thread, such that its turn stops. */
	cancelOn(threadId: string | undefined): void {
		const meant = [...this.#open.values()].filter(question => question.threadId === threadId);
		this.withdraw(question => meant.includes(question));
		for (const question of meant) this.#answer(question, {action: 'cancel', content: {}});
	}

	#answer({id, answer}: Question, reply: Reply): void {
		this.#out.toUpstream(Envelope.answer(id, 'result', answer(reply)));
	}
}

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
