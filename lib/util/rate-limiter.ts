/** Lets something be done so often in a stretch of time, and tells when it may be done again. */
export class RateLimiter {
	readonly #limit: number;
	readonly #windowMs: number;
	readonly #now: () => number;
	/** When it was done, the latest last: at most as many times as it may be done. */
	#acquiredAt: number[] = [];

	/** `now` is a clock that is never set, in milliseconds. */
	constructor(limit: number, windowMs: number, now: () => number) {
		this.#limit = limit;
		this.#windowMs = windowMs;
		this.#now = now;
	}

	/** How long until it may be done; 0 when it may be. */
	get retryAfterMs(): number {
		const [oldest] = this.#acquiredAt;
		if (oldest === undefined || this.#acquiredAt.length < this.#limit) return 0;
		return Math.max(0, oldest + this.#windowMs - this.#now());
	}

	/** Whether it may be done now, in which case it counts as done. */
	tryAcquire(): boolean {
		if (this.retryAfterMs > 0) return false;
		this.#acquiredAt = [...this.#acquiredAt, this.#now()].slice(-this.#limit);
		return true;
	}
}
