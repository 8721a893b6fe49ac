import {BoundedMap} from '../../bounded-map.js';
import type {Envelope, Origin} from '../../envelope.js';
import {BridgeError} from '../../errors.js';
import {PassingMap} from '../../passing-map.js';
import {canonicalId} from '../../wire/id.js';

/** A request that the server has been asked and has not answered. */
export type Asked<Client> = {
	/** Its id as the server knows it. */
	readonly told: string;
	/** Its id as the client wrote it. */
	readonly id: string;
	/** Who asked it; nobody, if bridge did. */
	readonly client: Client | undefined;
	readonly origin: Origin;
	readonly method: string;
	/** The progress token that the server was told. */
	token?: string;
	/** What is done with the answer, where it is not just passed on. Such a request is not cancelled. */
	readonly onAnswer?: ((answer: Envelope) => void) | undefined;
};

/** Requests without an answer, of all clients and of one. */
const MAX_ASKED = 65_536;
const MAX_ASKED_BY_ONE = 16_384;
/** Requests that the server may still answer after they were given up; the oldest is forgotten for the next. */
const MAX_GIVEN_UP = 10_000;

/** The requests of all clients that a shared server has not answered, each under an id that no other has. */
export class InFlight<Client> {
	readonly #byTold = new PassingMap<string, Asked<Client>>();
	/** By the keys that their clients gave them. An empty one stays, until its client leaves: most ask again. */
	readonly #byClient = new Map<Client, PassingMap<string, Asked<Client>>>();
	/** Those that were cancelled, whose answers still go where they belong. */
	readonly #cancelled = new BoundedMap<string, Asked<Client>>(MAX_GIVEN_UP);
	/** Those of clients that have left. */
	readonly #forsaken = new BoundedMap<string, true>(MAX_GIVEN_UP);
	#ids = 0;

	/** Takes a request in, under a new id. Those of bridge's own are few. */
	add(request: Omit<Asked<Client>, 'told' | 'token'>): Asked<Client> {
		const {id, client, origin, method, onAnswer} = request;
		const own = client === undefined ? undefined : (this.#byClient.get(client) ?? new PassingMap());
		if (own && this.#byTold.size >= MAX_ASKED) throw busy(MAX_ASKED);
		if (own && own.size >= MAX_ASKED_BY_ONE) throw busy(MAX_ASKED_BY_ONE);
		const asked: Asked<Client> = {told: String(++this.#ids), id, client, origin, method, onAnswer};
		this.#byTold.set(asked.told, asked);
		if (client === undefined || !own) return asked;
		if (own.size === 0) this.#byClient.set(client, own);
		own.set(canonicalId(id), asked);
		return asked;
	}

	/** The request that an answer with this key is for; it no longer waits. */
	take(key: string): Asked<Client> | undefined {
		const asked = this.#byTold.take(key);
		if (!asked) return this.#cancelled.size > 0 ? this.#cancelled.take(key) : undefined;
		this.#forget(asked);
		return asked;
	}

	/** Who asked the request with this key. */
	clientOf(key: string): Client | undefined {
		return this.#byTold.get(key)?.client;
	}

	/** Whether an answer with this key is for somebody who has left. */
	isForsaken(key: string): boolean {
		return this.#forsaken.take(key) === true;
	}

	/** Whether a client has a request here. */
	has(client: Client): boolean {
		return (this.#byClient.get(client)?.size ?? 0) > 0;
	}

	/** A client gives one of its own requests up. It may be answered all the same. */
	cancel(client: Client, id: string): Asked<Client> | undefined {
		const asked = this.#byClient.get(client)?.get(canonicalId(id));
		if (!asked || asked.onAnswer) return;
		this.#byTold.delete(asked.told);
		this.#forget(asked);
		this.#cancelled.set(asked.told, asked);
		return asked;
	}

	/** The client has left. Returns what the server need not answer any more. */
	leave(client: Client): Asked<Client>[] {
		const all = [...(this.#byClient.get(client)?.values() ?? [])].filter(({onAnswer}) => !onAnswer);
		this.#byClient.delete(client);
		for (const {told} of all) {
			this.#byTold.delete(told);
			this.#forsaken.set(told, true);
		}
		return all;
	}

	/** All that somebody waits for; nothing waits any longer. */
	takeAll(): Asked<Client>[] {
		const all = [...this.#byTold.values()];
		for (const requests of [this.#byTold, this.#byClient, this.#cancelled, this.#forsaken]) requests.clear();
		return all;
	}

	/** The latest request of a client that will do, and how many such clients there are. */
	latest(isFit: (asked: Asked<Client>, client: Client) => boolean): {client?: Client; count: number} {
		const clients = new Set<Client>();
		let latest: Client | undefined;
		for (const asked of this.#byTold.values())
			if (asked.client !== undefined && isFit(asked, asked.client)) {
				latest = asked.client;
				clients.add(latest);
			}
		return latest === undefined ? {count: 0} : {client: latest, count: clients.size};
	}

	#forget(asked: Asked<Client>): void {
		const {client, id} = asked;
		if (client === undefined) return;
		const own = this.#byClient.get(client);
		const key = canonicalId(id);
		if (own?.get(key) === asked) own.delete(key);
	}
}

const busy = (limit: number): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`${limit} requests wait for an answer already.`,
		'Wait for some of them before you send more.',
		{limit},
	);
