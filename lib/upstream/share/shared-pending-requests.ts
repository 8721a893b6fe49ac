import type {Envelope, MessageOrigin} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {SlotMap} from '../../core/fast/slot-map.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {canonicalId} from '../../wire/id.js';
import {checkKeyLengths} from './owner-map.js';

/** A request that the server has been asked and has not answered. */
type SharedPendingRequest<Client> = {
	/** Its id as the server knows it. */
	readonly upstreamId: string;
	/** Its id as the client wrote it. */
	readonly id: string;
	/** The same for all spellings of that id. */
	readonly key: string;
	/** Who asked it; nobody, if bridge did. */
	readonly client: Client | undefined;
	readonly origin: MessageOrigin;
	readonly method: string;
	/** Whether the server may have to send a server request before its response. */
	readonly mayNeedInput: boolean;
	/** The progress token that the server was told. */
	upstreamToken?: string;
	/** What is done with the answer, where it is not just passed on. Such a request is not cancelled. */
	readonly onResponse?: ((answer: Envelope) => void) | undefined;
};

type NewPendingRequest<Client> = Omit<
	SharedPendingRequest<Client>,
	'upstreamId' | 'key' | 'mayNeedInput' | 'upstreamToken'
>;

type LatestClient<Client> = {readonly client: Client | undefined; readonly count: number};

/** Whether a server may have to send a server request before its response; for other methods this is rare. */
const mayNeedInput = (method: string): boolean =>
	method === 'tools/call' ||
	!/^(ping|.*\/list|logging\/.*|resources\/(un)?subscribe|tasks\/(get|cancel))$/.test(method);

/** Requests without an answer, of all clients and of one. */
const MAX_PENDING = 65_536;
const MAX_PENDING_PER_CLIENT = 16_384;
/** Requests that the server may still answer after they were given up; the oldest is forgotten for the next. */
const MAX_ABANDONED = 10_000;

/** The requests of all clients that a shared server has not answered, each under an id that no other has. */
export class SharedPendingRequests<Client> {
	readonly #byUpstreamId = new SlotMap<string, SharedPendingRequest<Client>>();
	/** By the keys that their clients gave them. An empty one stays, until its client leaves: most ask again. */
	readonly #byClient = new Map<Client, SlotMap<string, SharedPendingRequest<Client>>>();
	/** Those that were cancelled, whose answers still go where they belong. */
	readonly #cancelled = new BoundedMap<string, SharedPendingRequest<Client>>(MAX_ABANDONED);
	/** Those of clients that have left. */
	readonly #abandoned = new BoundedMap<string, true>(MAX_ABANDONED);
	#ids = 0;

	/** Takes a request in, under a new id. Those of bridge's own are few. */
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

	/** The request that an answer with this key is for; it no longer waits. */
	take(key: string): SharedPendingRequest<Client> | undefined {
		const pending = this.#byUpstreamId.take(key);
		if (!pending) return this.#cancelled.size > 0 ? this.#cancelled.take(key) : undefined;
		this.#removeFromClient(pending);
		return pending;
	}

	/** Who asked the request with this key. */
	clientOf(key: string): Client | undefined {
		return this.#byUpstreamId.get(key)?.client;
	}

	/** Whether an answer with this key is for somebody who has left. */
	takeAbandoned(key: string): boolean {
		return this.#abandoned.take(key) === true;
	}

	/** Whether a client has a request here. */
	has(client: Client): boolean {
		return (this.#byClient.get(client)?.size ?? 0) > 0;
	}

	/** A client gives one of its own requests up. It may be answered all the same. */
	cancel(client: Client, id: string): SharedPendingRequest<Client> | undefined {
		const pending = this.#byClient.get(client)?.get(canonicalId(id));
		if (!pending || pending.onResponse) return;
		this.#byUpstreamId.delete(pending.upstreamId);
		this.#removeFromClient(pending);
		this.#cancelled.set(pending.upstreamId, pending);
		return pending;
	}

	/** The client has left. Returns what the server need not answer any more. */
	removeClient(client: Client): SharedPendingRequest<Client>[] {
		const all = [...(this.#byClient.get(client)?.values() ?? [])].filter(({onResponse}) => !onResponse);
		this.#byClient.delete(client);
		for (const {upstreamId} of all) {
			this.#byUpstreamId.delete(upstreamId);
			this.#abandoned.set(upstreamId, true);
		}
		return all;
	}

	/** All that somebody waits for; nothing waits any longer. */
	takeAll(): SharedPendingRequest<Client>[] {
		const all = [...this.#byUpstreamId.values()];
		for (const requests of [this.#byUpstreamId, this.#byClient, this.#cancelled, this.#abandoned])
			requests.clear();
		return all;
	}

	/**
	 * For each condition, the client of the latest request that meets it, and how many such clients there are. All of them are
	 * found in one pass: there may be many requests.
	 */
	latest(
		...conditions: ReadonlyArray<(pending: SharedPendingRequest<Client>, client: Client) => boolean>
	): LatestClient<Client>[] {
		const found = conditions.map(isMet => ({
			isMet,
			clients: new Set<Client>(),
			client: undefined as Client | undefined,
		}));
		for (const pending of this.#byUpstreamId.values()) {
			const {client} = pending;
			if (client === undefined) continue;
			for (const one of found) {
				if (!one.isMet(pending, client)) continue;
				if (one.client !== client) one.clients.add(client);
				one.client = client;
			}
		}
		return found.map(({client, clients}) => ({client, count: clients.size}));
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
		`${limit} requests wait for an answer already.`,
		'Wait for some of them before you send more.',
		{limit},
	);
