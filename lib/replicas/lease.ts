import {performance} from 'node:perf_hooks';
import type {Store} from './store.js';

/** How long a replica that says nothing is taken to be there. */
const LEASE_MS = 6000;
const RENEWED_MS = 2000;

/** Tells the others that a replica is there, and which of them are not any more. */
export class Leases {
	readonly #store: Store;
	readonly #timer: NodeJS.Timeout;

	constructor(store: Store, instance: string) {
		this.#store = store;
		const renew = (): void => void store.ask(redis => redis.set(this.#keyOf(instance), '1', 'PX', LEASE_MS));
		this.#timer = setInterval(renew, RENEWED_MS).unref();
		store.whenUp(renew);
	}

	/** Whether a replica is known to be gone: a store that was away itself can tell so only after a while. */
	async isGone(instance: string): Promise<boolean> {
		const {upSince} = this.#store;
		if (upSince === undefined || performance.now() - upSince < LEASE_MS) return false;
		return (await this.#store.ask(redis => redis.exists(this.#keyOf(instance)))) === 0;
	}

	#keyOf(instance: string): string {
		return this.#store.key('replica', this.#store.name('replica', instance));
	}

	close(): void {
		clearInterval(this.#timer);
	}
}
