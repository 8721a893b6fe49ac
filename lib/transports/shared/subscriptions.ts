import type {Envelope} from '../../envelope.js';
import {BridgeError} from '../../errors.js';

/** Tells a client what became of its subscription: the server's answer, or nothing if that is known to be fine. */
export type Reply = (answer?: Envelope) => void;

/** A resource, and who wants to hear of it. */
export type Subscription<Client> = {
	readonly uri: string;
	readonly clients: Set<Client>;
	/** Those that wait for the server's response: each once, so that a server that hangs cannot make this grow. */
	readonly waiting: Map<Client, Reply>;
	isSettled: boolean;
};

const MAX_URIS = 10_000;

/** Who wants to hear of which resources. The server hears of the first who does, and of the last who no longer does. */
export class Subscriptions<Client> {
	readonly #byUri = new Map<string, Subscription<Client>>();

	/** Returns the subscription if the server is to be asked for it: {@link settle} takes its answer then. */
	add(client: Client, uri: string, reply: Reply): Subscription<Client> | undefined {
		const known = this.#byUri.get(uri);
		if (known) {
			if (known.waiting.has(client)) throw pending();
			known.clients.add(client);
			if (known.isSettled) reply();
			else known.waiting.set(client, reply);
			return;
		}
		if (this.#byUri.size >= MAX_URIS) throw busy();
		const added: Subscription<Client> = {
			uri,
			clients: new Set([client]),
			waiting: new Map([[client, reply]]),
			isSettled: false,
		};
		this.#byUri.set(uri, added);
		return added;
	}

	/** The server has answered: the same to all who waited. */
	settle(subscription: Subscription<Client>, answer: Envelope): void {
		const {uri, clients, waiting} = subscription;
		subscription.isSettled = true;
		const all = [...waiting];
		waiting.clear();
		for (const [client, reply] of all) {
			if (answer.head.hasError) clients.delete(client);
			reply(answer);
		}
		if (clients.size === 0 && this.#byUri.get(uri) === subscription) this.#byUri.delete(uri);
	}

	/** Returns whether the server is to be told, since nobody else wants it. */
	remove(client: Client, uri: string): boolean {
		const known = this.#byUri.get(uri);
		if (!known?.clients.delete(client) || known.clients.size > 0) return false;
		this.#byUri.delete(uri);
		return true;
	}

	/** The client has left. Returns what nobody else wants. */
	leave(client: Client): string[] {
		return [...this.#byUri]
			.filter(([uri, {waiting}]) => {
				waiting.delete(client);
				return this.remove(client, uri);
			})
			.map(([uri]) => uri);
	}

	/** All that somebody wants to hear of. */
	get uris(): string[] {
		return [...this.#byUri.keys()];
	}

	/** Who is to hear of a resource; where nobody has named it, those who have named something that it is a part of. */
	receivers(uri: string): ReadonlySet<Client> {
		const exact = this.#byUri.get(uri);
		if (exact) return exact.clients;
		const wholes = [...this.#byUri.values()].filter(one => uri.startsWith(one.uri));
		return new Set(wholes.flatMap(({clients}) => [...clients]));
	}
}

const busy = (): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`${MAX_URIS} resources are subscribed to already.`,
		'Unsubscribe from some of them first.',
		{limit: MAX_URIS},
	);

const pending = (): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		'Your subscription to this resource waits for the response of the server already.',
		'Wait for that response before you subscribe again.',
	);
