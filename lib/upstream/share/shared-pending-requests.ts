import type {Envelope, MessageOrigin} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {SlotMap} from '../../core/fast/slot-map.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {canonicalId} from '../../wire/id.js';
import {checkKeyLengths} from './owner-map.js';

/** A request to the shared upstream that has no response yet. */
type SharedPendingRequest<Client> = {
	/** The id that the upstream receives. */
	readonly upstreamId: string;
	/** The client's id, as written. */
	readonly id: string;
	/** The client's id in canonical form. */
	readonly key: string;
	/** The sender; undefined for requests of bridge. */
	readonly client: Client | undefined;
	readonly origin: MessageOrigin;
	readonly method: string;
	/** Whether the upstream may send a server request before its response. */
	readonly mayNeedInput: boolean;
	/** The progress token that the upstream receives. */
	upstreamToken?: string;
	/** Handles the response instead of forwarding it. Such a request is not cancelled. */
	readonly onResponse?: ((response: Envelope) => void) | undefined;
};

type NewPendingRequest<Client> = Omit<
	SharedPendingRequest<Client>,
	'upstreamId' | 'key' | 'mayNeedInput' | 'upstreamToken'
>;

type LatestClient<Client> = {readonly client: Client | undefined; readonly count: number};

/** Whether an upstream may send a server request before its response. For other methods this is rare. */
const mayNeedInput = (method: string): boolean =>
	method === 'tools/call' ||
	!/^(ping|.*\/list|logging\/.*|resources\/(un)?subscribe|tasks\/(get|cancel))$/.test(method);

/** Limits of pending requests, for all clients and for one client. */
const MAX_PENDING = 65_536;
const MAX_PENDING_PER_CLIENT = 16_384;
/** Limit of cancelled or abandoned requests that may still get a response. The oldest is evicted. */
const MAX_ABANDONED = 10_000;

/** The pending requests of all clients to a shared upstream, under ids that are unique across clients. */
export class SharedPendingRequests<Client> {
	readonly #byUpstreamId = new SlotMap<string, SharedPendingRequest<Client>>();
	/** By client and by the client's key. Empty maps stay: most clients send another request. */
	readonly #byClient = new Map<Client, SlotMap<string, SharedPendingRequest<Client>>>();
	/** Cancelled requests. Their late responses are still forwarded. */
	readonly #cancelled = new BoundedMap<string, SharedPendingRequest<Client>>(MAX_ABANDONED);
	/** Requests of clients that have disconnected. */
	readonly #abandoned = new BoundedMap<string, true>(MAX_ABANDONED);
	#ids = 0;

	/** Adds a request under a new id. Requests of bridge are few, so they are not limited. */
	add(request: NewPendingRequest<Client>): SharedPendingRequest<Client> {
		const {id, client, origin, method, onResponse} = request;
		const clientRequests = client === undefined ? undefined : (this.#byClient.get(client) ?? new SlotMap());
		if (clientRequests && this.#byUpstreamId.size >= MAX_PENDING) throw tooManyRequests(MAX_PENDING);
		if (clientRequests && clientRequests.size >= MAX_PENDING_PER_CLIENT)
			throw tooManyRequests(MAX_PENDING_PER_CLIENT);
		if (clientRequests) checkKeyLengths(request);
		const upstreamId = String(++this.#ids);
		const key = canonicalId(id);
		const pending: SharedPendingRequest<Client> = {
			upstreamId,
			id,
			key,
			client,
			origin,
			method,
			mayNeedInput: mayNeedInput(method),
			onResponse,
		};
		this.#byUpstreamId.set(pending.upstreamId, pending);
		if (client === undefined || !clientRequests) return pending;
		if (clientRequests.size === 0) this.#byClient.set(client, clientRequests);
		clientRequests.set(key, pending);
		return pending;
	}

	/** Removes and returns the request that a response with this key belongs to. */
	take(key: string): SharedPendingRequest<Client> | undefined {
		const pending = this.#byUpstreamId.take(key);
		if (!pending) return this.#cancelled.size > 0 ? this.#cancelled.take(key) : undefined;
		this.#removeFromClient(pending);
		return pending;
	}

	clientOf(key: string): Client | undefined {
		return this.#byUpstreamId.get(key)?.client;
	}

	/** Removes an abandoned request. Returns whether there was one with this key. */
	takeAbandoned(key: string): boolean {
		return this.#abandoned.take(key) === true;
	}

	has(client: Client): boolean {
		return (this.#byClient.get(client)?.size ?? 0) > 0;
	}

	/** Cancels a client's request. A late response is still forwarded. */
	cancel(client: Client, id: string): SharedPendingRequest<Client> | undefined {
		const pending = this.#byClient.get(client)?.get(canonicalId(id));
		if (!pending || pending.onResponse) return;
		this.#byUpstreamId.delete(pending.upstreamId);
		this.#removeFromClient(pending);
		this.#cancelled.set(pending.upstreamId, pending);
		return pending;
	}

	/** Removes a client. Returns the requests that have to be cancelled. */
	removeClient(client: Client): SharedPendingRequest<Client>[] {
		const all = [...(this.#byClient.get(client)?.values() ?? [])].filter(({onResponse}) => !onResponse);
		this.#byClient.delete(client);
		for (const {upstreamId} of all) {
			this.#byUpstreamId.delete(upstreamId);
			this.#abandoned.set(upstreamId, true);
		}
		return all;
	}

	takeAll(): SharedPendingRequest<Client>[] {
		const all = [...this.#byUpstreamId.values()];
		for (const requests of [this.#byUpstreamId, this.#byClient, this.#cancelled, this.#abandoned])
			requests.clear();
		return all;
	}

	/**
	 * For each condition, the client of the latest request that meets it, and the number of such clients. One
	 * pass serves all conditions, since there may be many requests.
	 */
	latest(
		...conditions: ReadonlyArray<(pending: SharedPendingRequest<Client>, client: Client) => boolean>
	): LatestClient<Client>[] {
		const matches = conditions.map(isMet => ({
			isMet,
			clients: new Set<Client>(),
			client: undefined as Client | undefined,
		}));
		for (const pending of this.#byUpstreamId.values()) {
			const {client} = pending;
			if (client === undefined) continue;
			for (const match of matches) {
				if (!match.isMet(pending, client)) continue;
				if (match.client !== client) match.clients.add(client);
				match.client = client;
			}
		}
		return matches.map(({client, clients}) => ({client, count: clients.size}));
	}

	#removeFromClient(pending: SharedPendingRequest<Client>): void {
		const {client, key} = pending;
		if (client === undefined) return;
		const clientRequests = this.#byClient.get(client);
		if (clientRequests?.get(key) === pending) clientRequests.delete(key);
	}
}

const tooManyRequests = (limit: number): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`${limit} requests are already pending.`,
		'Wait for some of their responses before you send more.',
		{limit},
	);
