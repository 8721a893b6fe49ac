/** A sliding-window rate limiter. */
export class RateLimiter {
	readonly #limit: number;
	readonly #windowMs: number;
	readonly #now: () => number;
	/** The times of the latest acquisitions, oldest first; at most `limit`. */
	#acquiredAt: number[] = [];

	/** `now` must be monotonic, in milliseconds. */
	constructor(limit: number, windowMs: number, now: () => number) {
		this.#limit = limit;
		this.#windowMs = windowMs;
		this.#now = now;
	}

	/** The time until the next acquisition is possible; 0 if it is possible now. */
	get retryAfterMs(): number {
		const [oldest] = this.#acquiredAt;
		if (oldest === undefined || this.#acquiredAt.length < this.#limit) return 0;
		return Math.max(0, oldest + this.#windowMs - this.#now());
	}

	/** Returns whether the action may run now, and counts it if so. */
	tryAcquire(): boolean {
		if (this.retryAfterMs > 0) return false;
		this.#acquiredAt = [...this.#acquiredAt, this.#now()].slice(-this.#limit);
		return true;
	}
}
