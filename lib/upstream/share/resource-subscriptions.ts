import type {Envelope} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';

/** Tells a client what became of its subscription: the server's answer, or nothing if that is known to be fine. */
type SubscriptionCallback = (answer?: Envelope) => void;

/** A resource, and who wants to hear of it. */
type ResourceSubscription<Client> = {
	readonly uri: string;
	readonly clients: Set<Client>;
	/** Those that wait for the server's response: each once, so that a server that hangs cannot make this grow. */
	readonly pending: Map<Client, SubscriptionCallback>;
	isSettled: boolean;
};

const MAX_URIS = 10_000;

/** Who wants to hear of which resources. The server hears of the first who does, and of the last who no longer does. */
export class ResourceSubscriptions<Client> {
	readonly #byUri = new Map<string, ResourceSubscription<Client>>();

	/** Returns the subscription if the server is to be asked for it: {@link settle} takes its answer then. */
	add(client: Client, uri: string, reply: SubscriptionCallback): ResourceSubscription<Client> | undefined {
		const existing = this.#byUri.get(uri);
		if (existing) {
			if (existing.pending.has(client)) throw alreadyPendingError();
			existing.clients.add(client);
			if (existing.isSettled) reply();
			else existing.pending.set(client, reply);
			return;
		}
		if (this.#byUri.size >= MAX_URIS) throw tooManySubscriptions();
		const added: ResourceSubscription<Client> = {
			uri,
			clients: new Set([client]),
			pending: new Map([[client, reply]]),
			isSettled: false,
		};
		this.#byUri.set(uri, added);
		return added;
	}

	/** The server has answered: the same to all who waited. */
	settle(subscription: ResourceSubscription<Client>, answer: Envelope): void {
		const {uri, clients, pending} = subscription;
		subscription.isSettled = true;
		const all = [...pending];
		pending.clear();
		for (const [client, reply] of all) {
			if (answer.head.hasError) clients.delete(client);
			reply(answer);
		}
		if (clients.size === 0 && this.#byUri.get(uri) === subscription) this.#byUri.delete(uri);
	}

	/** Returns whether the server is to be told, since nobody else wants it. */
	remove(client: Client, uri: string): boolean {
		const existing = this.#byUri.get(uri);
		if (!existing?.clients.delete(client) || existing.clients.size > 0) return false;
		this.#byUri.delete(uri);
		return true;
	}

	/** The client has left. Returns what nobody else wants. */
	removeClient(client: Client): string[] {
		return [...this.#byUri]
			.filter(([uri, {pending}]) => {
				pending.delete(client);
				return this.remove(client, uri);
			})
			.map(([uri]) => uri);
	}

	/** All that somebody wants to hear of. */
	get uris(): string[] {
		return [...this.#byUri.keys()];
	}

	/** Who is to hear of a resource; where nobody has named it, those who have named something that it is a part of. */
	subscribersOf(uri: string): ReadonlySet<Client> {
		const exact = this.#byUri.get(uri);
		if (exact) return exact.clients;
		const parents = [...this.#byUri.values()].filter(one => uri.startsWith(one.uri));
		return new Set(parents.flatMap(({clients}) => [...clients]));
	}
}

const tooManySubscriptions = (): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`${MAX_URIS} resources are subscribed to already.`,
		'Unsubscribe from some of them first.',
		{limit: MAX_URIS},
	);

const alreadyPendingError = (): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		'Your subscription to this resource waits for the response of the server already.',
		'Wait for that response before you subscribe again.',
	);
