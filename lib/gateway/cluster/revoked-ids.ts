import {BoundedMap} from '../../util/bounded-map.js';
import type {SharedStore} from './shared-store.js';

/**
 * Revoked ids that are kept in memory. The oldest is evicted; a store keeps all of them until they expire.
 */
const MAX_REVOKED = 10_000;

/** Ids that were revoked before the expiry time that is sealed in them. */
export class RevokedIds {
	readonly #store: SharedStore;
	readonly #kind: string;
	readonly #lifetimeMs: number;
	readonly #now: () => number;
	/** The expiry time of each entry, by the system clock, like sealed expiry times. */
	readonly #expiresAt = new BoundedMap<string, number>(MAX_REVOKED);

	/**
	 * Ids have to be random, so that their names in the store cannot be guessed. They expire after
	 * `lifetimeMs`.
	 */
	constructor(store: SharedStore, kind: string, lifetimeMs: number, now: () => number = Date.now) {
		this.#store = store;
		this.#kind = kind;
		this.#lifetimeMs = lifetimeMs;
		this.#now = now;
	}

	add(id: string): void {
		this.#expiresAt.set(id, this.#now() + this.#lifetimeMs);
		const name = this.#nameOf(id);
		const key = this.#store.key(this.#kind, name);
		void this.#store.run(redis => redis.set(key, '', 'PX', this.#lifetimeMs));
		this.#store.publish(name, this.#kind);
	}

	/** Whether an id is known to be revoked. Call {@link confirm} first to include those of other replicas. */
	has(id: string): boolean {
		const until = this.#expiresAt.get(id);
		return until !== undefined && this.#now() < until;
	}

	/** Looks an id up in the store. Returns undefined if there is no store, or if the id is already known. */
	confirm(id: string): Promise<void> | undefined {
		if (!this.#store.isUp || this.has(id)) return;
		const key = this.#store.key(this.#kind, this.#nameOf(id));
		return this.#store
			.run(redis => redis.get(key))
			.then(found => {
				if (typeof found === 'string') this.#expiresAt.set(id, this.#now() + this.#lifetimeMs);
			});
	}

	/** Calls `onRevoked` when another replica revokes an id. Returns a function that stops watching. */
	watch(id: string, onRevoked: () => void): () => void {
		return this.#store.subscribe(this.#nameOf(id), message => {
			// An empty message means that notifications may have been missed.
			const lookup = message === '' ? (this.confirm(id) ?? Promise.resolve()) : undefined;
			if (!lookup) this.#expiresAt.set(id, this.#now() + this.#lifetimeMs);
			void Promise.resolve(lookup).then(() => {
				if (this.has(id)) onRevoked();
			});
		});
	}

	#nameOf(id: string): string {
		return this.#store.hashedName(this.#kind, id);
	}
}
