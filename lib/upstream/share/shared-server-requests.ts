import {Envelope, type MessageOrigin} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {MAX_IDENTIFIER_LENGTH} from '../../core/requests/progress.js';
import {shortKey} from '../../util/short-key.js';
import {canonicalId} from '../../wire/id.js';
import {progressTokenKey} from '../../wire/progress-token-key.js';
import {checkKeyLengths} from './owner-map.js';

type SharedServerRequest<Client> = {
	/** The id that the client receives. */
	readonly clientSideId: string;
	/** The upstream's id, as written. */
	readonly id: string;
	/** The upstream's id in canonical form. */
	readonly key: string;
	readonly client: Client;
	readonly method: string;
	/** The key of its progress token. */
	readonly token: string | undefined;
};

const MAX_SERVER_REQUESTS = 10_000;

/** The client capability that each method requires. */
const requiredCapabilities = new Map([
	['sampling/createMessage', 'sampling'],
	['elicitation/create', 'elicitation'],
	['roots/list', 'roots'],
]);

export const requiredCapability = (method: string): string | undefined => requiredCapabilities.get(method);

/** The pending server requests of a shared upstream. Only the client that got one can respond to it. */
export class SharedServerRequests<Client> {
	readonly #byClientSideId = new Map<string, SharedServerRequest<Client>>();
	/** The upstream may use one id several times. */
	readonly #byKey = new Map<string, Set<SharedServerRequest<Client>>>();
	#ids = 0;

	/** Adds a server request under a new id, which stays unique when the upstream is restarted. */
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

	/** Removes and returns the server request that a client's response with this key belongs to. */
	take(client: Client, key: string): SharedServerRequest<Client> | undefined {
		const request = this.#byClientSideId.get(key);
		if (request?.client !== client) return;
		this.#remove([request]);
		return request;
	}

	/** Removes and returns the server request with this id, which the upstream has cancelled. */
	cancel(id: string): SharedServerRequest<Client> | undefined {
		if (id.length > MAX_IDENTIFIER_LENGTH) return;
		const [request] = this.#remove(this.#byKey.get(canonicalId(id)) ?? []);
		return request;
	}

	/** Removes and returns the server requests to a client that has disconnected. */
	removeClient(client: Client): SharedServerRequest<Client>[] {
		return this.#remove([...this.#byClientSideId.values()].filter(request => request.client === client));
	}

	takeAll(): SharedServerRequest<Client>[] {
		return this.#remove(this.#byClientSideId.values());
	}

	/** Whether a pending server request to this client has this progress token. */
	hasToken(client: Client, token: string): boolean {
		const key = shortKey(token);
		for (const request of this.#byClientSideId.values())
			if (request.client === client && request.token === key) return true;
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

/**
 * The response to a server request that reaches no client. An elicitation is not declined: no user saw it.
 */
export function undeliverableResponse(
	id: string,
	method: string,
	reason: string,
	origin?: MessageOrigin,
): Envelope {
	if (method === 'elicitation/create') return Envelope.response(id, 'result', {action: 'cancel'}, origin);
	const error = {code: -32601, message: `${method} got no response: ${reason}.`};
	return Envelope.response(id, 'error', error, origin);
}

const tooManyServerRequests = (): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`${MAX_SERVER_REQUESTS} requests to clients are already pending.`,
		'Wait for some of their responses, or cancel some, before you send more.',
		{limit: MAX_SERVER_REQUESTS},
	);
