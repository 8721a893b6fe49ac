import {Envelope, type Origin} from '../../envelope.js';
import {BridgeError} from '../../errors.js';
import {canonicalId} from '../../wire/id.js';
import {memberText} from '../../wire/member.js';

/** A request of the server that one client has been asked. */
export type Question<Client> = {
	/** Its id as the client knows it. */
	readonly told: string;
	/** Its id as the server wrote it. */
	readonly id: string;
	readonly client: Client;
	readonly method: string;
	/** The token that its progress is told with, as text. */
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
	#ids = 0;

	/** Takes a question in, under an id that tells it from those of the server's former life. */
	add(client: Client, {bytes, head: {id = 'null', method = ''}}: Envelope): Question<Client> {
		if (this.#byTold.size >= MAX_QUESTIONS) throw busy();
		const token = memberText(bytes, 'params', '_meta', 'progressToken');
		const question = {told: String(++this.#ids), id, client, method, token};
		this.#byTold.set(question.told, question);
		return question;
	}

	/** The question that this client answers with something of this key; it is no longer open. */
	take(client: Client, key: string): Question<Client> | undefined {
		const question = this.#byTold.get(key);
		if (question?.client !== client) return;
		this.#byTold.delete(key);
		return question;
	}

	/** The server wants no answer any more to the question that it knows by this id. */
	withdraw(id: string): Question<Client> | undefined {
		const key = canonicalId(id);
		const [question] = this.#remove(one => canonicalId(one.id) === key);
		return question;
	}

	/** The client has left its questions without an answer. */
	leave(client: Client): Question<Client>[] {
		return this.#remove(question => question.client === client);
	}

	takeAll(): Question<Client>[] {
		return this.#remove(() => true);
	}

	/** Whether a client has been asked something whose progress it may tell with this token. */
	hasToken(client: Client, token: string): boolean {
		return [...this.#byTold.values()].some(one => one.client === client && one.token === token);
	}

	#remove(isMeant: (question: Question<Client>) => boolean): Question<Client>[] {
		const found = [...this.#byTold.values()].filter(isMeant);
		for (const {told} of found) this.#byTold.delete(told);
		return found;
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
