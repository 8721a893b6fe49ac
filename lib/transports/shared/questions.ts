import {MAX_WORD} from '../../awaited-progress.js';
import {Envelope, type Origin} from '../../envelope.js';
import {BridgeError} from '../../errors.js';
import {shortKey} from '../../short-key.js';
import {canonicalId} from '../../wire/id.js';
import {tokenKey} from '../token-key.js';
import {checkNames} from './kept-names.js';

/** A request of the server that one client has been asked. */
export type Question<Client> = {
	/** Its id as the client knows it. */
	readonly told: string;
	/** Its id as the server wrote it. */
	readonly id: string;
	/** The same for all spellings of that id. */
	readonly key: string;
	readonly client: Client;
	readonly method: string;
	/** The key of the token that its progress is sent with. */
	readonly token: string | undefined;
};

const MAX_QUESTIONS = 10_000;

/** What a client has to be able to do, to be asked. */
const needs = new Map([
	['sampling/createMessage', 'sampling'],
	['elicitation/create', 'elicitation'],
	['roots/list', 'roots'],
]);

export const neededFor = (method: string): string | undefined => needs.get(method);

/** The requests of a shared server to its clients. Each is for one client, and only that one can answer it. */
export class Questions<Client> {
	readonly #byTold = new Map<string, Question<Client>>();
	/** A server may give several of them one id. */
	readonly #byKey = new Map<string, Set<Question<Client>>>();
	#ids = 0;

	/** Takes a question in, under an id that tells it from those of the server's former life. */
	add(client: Client, {bytes, head: {id = 'null', method = ''}}: Envelope): Question<Client> {
		if (this.#byTold.size >= MAX_QUESTIONS) throw busy();
		checkNames({id, method});
		const token = tokenKey(bytes, 'params', '_meta');
		const question: Question<Client> = {
			told: String(++this.#ids),
			id,
			key: canonicalId(id),
			client,
			method,
			token,
		};
		this.#byTold.set(question.told, question);
		const same = this.#byKey.get(question.key);
		if (same) same.add(question);
		else this.#byKey.set(question.key, new Set([question]));
		return question;
	}

	/** The question that this client answers with something of this key; it is no longer open. */
	take(client: Client, key: string): Question<Client> | undefined {
		const question = this.#byTold.get(key);
		if (question?.client !== client) return;
		this.#remove([question]);
		return question;
	}

	/** The server wants no answer any more to the question that it knows by this id. */
	withdraw(id: string): Question<Client> | undefined {
		if (id.length > MAX_WORD) return;
		const [question] = this.#remove(this.#byKey.get(canonicalId(id)) ?? []);
		return question;
	}

	/** The client has left its questions without an answer. */
	leave(client: Client): Question<Client>[] {
		return this.#remove([...this.#byTold.values()].filter(question => question.client === client));
	}

	takeAll(): Question<Client>[] {
		return this.#remove(this.#byTold.values());
	}

	/** Whether a client has been asked something whose progress it may tell with this token. */
	hasToken(client: Client, token: string): boolean {
		const key = shortKey(token);
		for (const one of this.#byTold.values()) if (one.client === client && one.token === key) return true;
		return false;
	}

	#remove(questions: Iterable<Question<Client>>): Question<Client>[] {
		const removed = [...questions];
		for (const question of removed) {
			const {told, key} = question;
			const same = this.#byKey.get(key);
			same?.delete(question);
			if (same?.size === 0) this.#byKey.delete(key);
			this.#byTold.delete(told);
		}
		return removed;
	}
}

/** What the server hears when nobody can be asked. Never a refusal of a form in the name of somebody who did not see it. */
export function unanswerable(id: string, method: string, why: string, origin?: Origin): Envelope {
	if (method === 'elicitation/create') return Envelope.answer(id, 'result', {action: 'cancel'}, origin);
	const error = {code: -32601, message: `${method} was not answered: ${why}.`};
	return Envelope.answer(id, 'error', error, origin);
}

const busy = (): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`${MAX_QUESTIONS} questions to clients wait for an answer already.`,
		'Wait for some of them, or cancel them, before you ask more.',
		{limit: MAX_QUESTIONS},
	);
