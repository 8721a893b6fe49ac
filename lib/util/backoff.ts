import {performance} from 'node:perf_hooks';

export type BackoffLimits = {
	readonly firstMs: number;
	readonly maxMs: number;
	/** After this uptime, the delay is reset. */
	readonly stableAfterMs: number;
};

/** For upstreams: 0.25 s, doubled up to 30 s. */
export const RESTART_LIMITS: BackoffLimits = {firstMs: 250, maxMs: 30_000, stableAfterMs: 30_000};

/**
 * Returns the delay that follows `previousMs`. `upMs` is the uptime since the last restart, or 0 if it
 * failed.
 */
export function nextDelayMs(
	previousMs: number | undefined,
	upMs: number,
	{firstMs, maxMs, stableAfterMs}: BackoffLimits = RESTART_LIMITS,
): number {
	if (previousMs === undefined || upMs >= stableAfterMs) return firstMs;
	return Math.min(previousMs * 2, maxMs);
}

/** Returns 75 % to 125 % of a delay, so that processes that exit together are not restarted together. */
export const withJitter = (delayMs: number, random: () => number = Math.random): number =>
	Math.round(delayMs * (0.75 + random() / 2));

/** The restart delays of one process or connection, with jitter. */
export class Backoff {
	#delayMs: number | undefined;
	#upSince: number | undefined;

	succeeded(): void {
		this.#upSince = performance.now();
	}

	/** Records an exit. Returns the delay before the restart. */
	nextDelayMs(): number {
		const upMs = this.#upSince === undefined ? 0 : performance.now() - this.#upSince;
		this.#upSince = undefined;
		this.#delayMs = nextDelayMs(this.#delayMs, upMs);
		return withJitter(this.#delayMs);
	}
}
