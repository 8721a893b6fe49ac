import type {Envelope} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';

/**
 * Called with the upstream's response, or without one if the upstream has accepted the subscription before.
 */
type SubscriptionCallback = (response?: Envelope) => void;

type ResourceSubscription<Client> = {
	readonly uri: string;
	readonly clients: Set<Client>;
	/** The clients that wait for the response. Each is in it once: a hanging upstream cannot make this grow. */
	readonly pending: Map<Client, SubscriptionCallback>;
	isSettled: boolean;
};

const MAX_URIS = 10_000;

/** The subscribers of each resource. The upstream gets only its first subscribe and its last unsubscribe. */
export class ResourceSubscriptions<Client> {
	readonly #byUri = new Map<string, ResourceSubscription<Client>>();

	/** Returns a new subscription, which has to be sent upstream. {@link settle} takes the response. */
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

	/** Passes the upstream's response to all waiting clients. */
	settle(subscription: ResourceSubscription<Client>, response: Envelope): void {
		const {uri, clients, pending} = subscription;
		subscription.isSettled = true;
		const all = [...pending];
		pending.clear();
		for (const [client, reply] of all) {
			if (response.head.hasError) clients.delete(client);
			reply(response);
		}
		if (clients.size === 0 && this.#byUri.get(uri) === subscription) this.#byUri.delete(uri);
	}

	/** Returns whether this was the last subscriber, so that the request has to be sent upstream. */
	remove(client: Client, uri: string): boolean {
		const existing = this.#byUri.get(uri);
		if (!existing?.clients.delete(client) || existing.clients.size > 0) return false;
		this.#byUri.delete(uri);
		return true;
	}

	/** Removes a client. Returns the URIs that have no other subscriber. */
	removeClient(client: Client): string[] {
		return [...this.#byUri]
			.filter(([uri, {pending}]) => {
				pending.delete(client);
				return this.remove(client, uri);
			})
			.map(([uri]) => uri);
	}

	get uris(): string[] {
		return [...this.#byUri.keys()];
	}

	/** The subscribers of a resource; without an exact match, those of URIs that are its prefix. */
	subscribersOf(uri: string): ReadonlySet<Client> {
		const exact = this.#byUri.get(uri);
		if (exact) return exact.clients;
		const parents = [...this.#byUri.values()].filter(parent => uri.startsWith(parent.uri));
		return new Set(parents.flatMap(({clients}) => [...clients]));
	}
}

const tooManySubscriptions = (): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`The limit of ${MAX_URIS} subscribed resources is reached.`,
		'Unsubscribe from some of them first.',
		{limit: MAX_URIS},
	);

const alreadyPendingError = (): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		'Your subscription to this resource is already pending.',
		'Wait for its response before you subscribe again.',
	);
