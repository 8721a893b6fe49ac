import {Envelope, type MessageOrigin} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {MAX_IDENTIFIER_LENGTH} from '../../core/requests/progress.js';
import {shortKey} from '../../util/short-key.js';
import {canonicalId} from '../../wire/id.js';
import {progressTokenKey} from '../../wire/progress-token-key.js';
import {checkKeyLengths} from './owner-map.js';

/** A request of the server that one client has been asked. */
type SharedServerRequest<Client> = {
	/** Its id as the client knows it. */
	readonly clientSideId: string;
	/** Its id as the server wrote it. */
	readonly id: string;
	/** The same for all spellings of that id. */
	readonly key: string;
	readonly client: Client;
	readonly method: string;
	/** The key of the token that its progress is sent with. */
	readonly token: string | undefined;
};

const MAX_SERVER_REQUESTS = 10_000;

/** What a client has to be able to do, to be asked. */
const requiredCapabilities = new Map([
	['sampling/createMessage', 'sampling'],
	['elicitation/create', 'elicitation'],
	['roots/list', 'roots'],
]);

export const requiredCapability = (method: string): string | undefined => requiredCapabilities.get(method);

/** The requests of a shared server to its clients. Each is for one client, and only that one can answer it. */
export class SharedServerRequests<Client> {
	readonly #byClientSideId = new Map<string, SharedServerRequest<Client>>();
	/** A server may give several of them one id. */
	readonly #byKey = new Map<string, Set<SharedServerRequest<Client>>>();
	#ids = 0;

	/** Takes a question in, under an id that tells it from those of the server's former life. */
	add(client: Client, {bytes, head: {id = 'null', method = ''}}: Envelope): SharedServerRequest<Client> {
		if (this.#byClientSideId.size >= MAX_SERVER_REQUESTS) throw tooManyServerRequests();
		checkKeyLengths({id, method});
		const token = progressTokenKey(bytes, 'params', '_meta');
		const request: SharedServerRequest<Client> = {
			clientSideId: String(++this.#ids),
			id,
			key: canonicalId(id),
			client,
			method,
			token,
		};
		this.#byClientSideId.set(request.clientSideId, request);
		const sameKey = this.#byKey.get(request.key);
		if (sameKey) sameKey.add(request);
		else this.#byKey.set(request.key, new Set([request]));
		return request;
	}

	/** The question that this client answers with something of this key; it is no longer open. */
	take(client: Client, key: string): SharedServerRequest<Client> | undefined {
		const request = this.#byClientSideId.get(key);
		if (request?.client !== client) return;
		this.#remove([request]);
		return request;
	}

	/** The server wants no answer any more to the question that it knows by this id. */
	cancel(id: string): SharedServerRequest<Client> | undefined {
		if (id.length > MAX_IDENTIFIER_LENGTH) return;
		const [request] = this.#remove(this.#byKey.get(canonicalId(id)) ?? []);
		return request;
	}

	/** The client has left its questions without an answer. */
	removeClient(client: Client): SharedServerRequest<Client>[] {
		return this.#remove([...this.#byClientSideId.values()].filter(request => request.client === client));
	}

	takeAll(): SharedServerRequest<Client>[] {
		return this.#remove(this.#byClientSideId.values());
	}

	/** Whether a client has been asked something whose progress it may tell with this token. */
	hasToken(client: Client, token: string): boolean {
		const key = shortKey(token);
		for (const one of this.#byClientSideId.values())
			if (one.client === client && one.token === key) return true;
		return false;
	}

	#remove(requests: Iterable<SharedServerRequest<Client>>): SharedServerRequest<Client>[] {
		const removed = [...requests];
		for (const request of removed) {
			const {clientSideId, key} = request;
			const sameKey = this.#byKey.get(key);
			sameKey?.delete(request);
			if (sameKey?.size === 0) this.#byKey.delete(key);
			this.#byClientSideId.delete(clientSideId);
		}
		return removed;
	}
}

/** What the server hears when nobody can be asked. Never a refusal of a form in the name of somebody who did not see it. */
export function undeliverableResponse(
	id: string,
	method: string,
	reason: string,
	origin?: MessageOrigin,
): Envelope {
	if (method === 'elicitation/create') return Envelope.response(id, 'result', {action: 'cancel'}, origin);
	const error = {code: -32601, message: `${method} was not answered: ${reason}.`};
	return Envelope.response(id, 'error', error, origin);
}

const tooManyServerRequests = (): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`${MAX_SERVER_REQUESTS} questions to clients wait for an answer already.`,
		'Wait for some of them, or cancel them, before you ask more.',
		{limit: MAX_SERVER_REQUESTS},
	);
