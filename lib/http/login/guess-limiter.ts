import {performance} from 'node:perf_hooks';
import {BoundedMap} from '../../util/bounded-map.js';
import {RateLimiter} from '../../util/rate-limiter.js';

/** Wrong tokens in a minute: from one address, and in total. */
const ADDRESS_LIMIT = 10;
const TOTAL_LIMIT = 100;
const WINDOW_MS = 60_000;
/** Addresses that are counted. The oldest is evicted for the next. */
const MAX_ADDRESSES = 1000;

export class GuessLimiter {
	readonly #now: () => number;
	readonly #total: RateLimiter;
	readonly #byAddress = new BoundedMap<string, RateLimiter>(MAX_ADDRESSES);

	/** `now` is monotonic, in milliseconds. */
	constructor(now: () => number = () => performance.now()) {
		this.#now = now;
		this.#total = new RateLimiter(TOTAL_LIMIT, WINDOW_MS, now);
	}

	/** How long this address has to wait until its next attempt; 0 if it may try now. */
	waitMs(address: string): number {
		return Math.max(this.#total.retryAfterMs, this.#byAddress.get(address)?.retryAfterMs ?? 0);
	}

	countFailure(address: string): void {
		const addressRate = this.#byAddress.get(address) ?? new RateLimiter(ADDRESS_LIMIT, WINDOW_MS, this.#now);
		this.#byAddress.set(address, addressRate);
		addressRate.tryAcquire();
		this.#total.tryAcquire();
	}
}
