import {BoundedMap} from '../../bounded-map.js';
import type {Envelope, Origin} from '../../envelope.js';
import {BridgeError} from '../../errors.js';
import {PassingMap} from '../../passing-map.js';
import {canonicalId} from '../../wire/id.js';
import {checkNames} from './kept-names.js';

/** A request that the server has been asked and has not answered. */
export type Asked<Client> = {
	/** Its id as the server knows it. */
	readonly told: string;
	/** Its id as the client wrote it. */
	readonly id: string;
	/** The same for all spellings of that id. */
	readonly key: string;
	/** Who asked it; nobody, if bridge did. */
	readonly client: Client | undefined;
	readonly origin: Origin;
	readonly method: string;
	/** Whether the server may have to send a server request before its response. */
	readonly mayNeedInput: boolean;
	/** The progress token that the server was told. */
	token?: string;
	/** What is done with the answer, where it is not just passed on. Such a request is not cancelled. */
	readonly onAnswer?: ((answer: Envelope) => void) | undefined;
};

type Request<Client> = Omit<Asked<Client>, 'told' | 'key' | 'mayNeedInput' | 'token'>;

export type Latest<Client> = {readonly client: Client | undefined; readonly count: number};

/** Whether a server may have to send a server request before its response; for other methods this is rare. */
const mayNeedInput = (method: string): boolean =>
	method === 'tools/call' ||
	!/^(ping|.*\/list|logging\/.*|resources\/(un)?subscribe|tasks\/(get|cancel))$/.test(method);

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
	add(request: Request<Client>): Asked<Client> {
		const {id, client, origin, method, onAnswer} = request;
		const own = client === undefined ? undefined : (this.#byClient.get(client) ?? new PassingMap());
		if (own && this.#byTold.size >= MAX_ASKED) throw busy(MAX_ASKED);
		if (own && own.size >= MAX_ASKED_BY_ONE) throw busy(MAX_ASKED_BY_ONE);
		if (own) checkNames(request);
		const told = String(++this.#ids);
		const key = canonicalId(id);
		const asked: Asked<Client> = {
			told,
			id,
			key,
			client,
			origin,
			method,
			mayNeedInput: mayNeedInput(method),
			onAnswer,
		};
		this.#byTold.set(asked.told, asked);
		if (client === undefined || !own) return asked;
		if (own.size === 0) this.#byClient.set(client, own);
		own.set(key, asked);
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

	/**
	 * For each condition, the client of the latest request that meets it, and how many such clients there are. All of them are
	 * found in one pass: there may be many requests.
	 */
	latest(...conditions: ReadonlyArray<(asked: Asked<Client>, client: Client) => boolean>): Latest<Client>[] {
		const found = conditions.map(isMet => ({
			isMet,
			clients: new Set<Client>(),
			client: undefined as Client | undefined,
		}));
		for (const asked of this.#byTold.values()) {
			const {client} = asked;
			if (client === undefined) continue;
			for (const one of found) {
				if (!one.isMet(asked, client)) continue;
				if (one.client !== client) one.clients.add(client);
				one.client = client;
			}
		}
		return found.map(({client, clients}) => ({client, count: clients.size}));
	}

	#forget(asked: Asked<Client>): void {
		const {client, key} = asked;
		if (client === undefined) return;
		const own = this.#byClient.get(client);
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
