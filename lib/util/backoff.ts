import {performance} from 'node:perf_hooks';

/** How long to wait before something that ended is started again. */
export type BackoffLimits = {
	readonly firstMs: number;
	readonly maxMs: number;
	/** What has been up for so long is taken to work, so its next end is a first one again. */
	readonly stableAfterMs: number;
};

/** For servers that are started again: 0.25 s, doubled up to 30 s. */
export const RESTART_LIMITS: BackoffLimits = {firstMs: 250, maxMs: 30_000, stableAfterMs: 30_000};

/** The next pause, by the one before it, if there was one, and by how long the thing has been up since; 0 if it never was. */
export function nextDelayMs(
	previousMs: number | undefined,
	upMs: number,
	{firstMs, maxMs, stableAfterMs}: BackoffLimits = RESTART_LIMITS,
): number {
	if (previousMs === undefined || upMs >= stableAfterMs) return firstMs;
	return Math.min(previousMs * 2, maxMs);
}

/** A pause from 75 % to 125 % of this one, so that what ended at the same time is not restarted at the same time. */
export const withJitter = (delayMs: number, random: () => number = Math.random): number =>
	Math.round(delayMs * (0.75 + random() / 2));

/** The pauses of one thing that is started again whenever it ends, with jitter. */
export class Backoff {
	#delayMs: number | undefined;
	#upSince: number | undefined;

	/** It works now. */
	succeeded(): void {
		this.#upSince = performance.now();
	}

	/** It ended. Returns the pause before its next start. */
	nextDelayMs(): number {
		const upMs = this.#upSince === undefined ? 0 : performance.now() - this.#upSince;
		this.#upSince = undefined;
		this.#delayMs = nextDelayMs(this.#delayMs, upMs);
		return withJitter(this.#delayMs);
	}
}
