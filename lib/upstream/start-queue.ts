import {performance} from 'node:perf_hooks';
import {BoundedMap} from '../util/bounded-map.js';

/** Starting a process blocks the event loop: for each millisecond of it, the principal waits this many. */
const COST_FACTOR = 10;
/** Milliseconds of starts that a principal may cause without waiting. */
const BURST_MS = 250;
/**
 * Limit of what one start counts: on a busy machine it waits for the CPU, which the principal does not cause.
 */
const MAX_COST_MS = 10;
/** Limit of principals with a queue. The oldest is evicted; its queued processes still start. */
const MAX_PRINCIPALS = 1000;

/**
 * The queued process starts of one principal. A burst of sessions takes at most a tenth of the event loop
 * while other principals need it. Each queued start belongs to a session, so the session limit also bounds
 * the queue.
 */
export class StartQueue {
	readonly #isLimited: () => boolean;
	readonly #now: () => number;
	readonly #queue = new Set<() => void>();
	/** Milliseconds of starts that the principal has not waited for yet, as of `#checkedAt`. */
	#debtMs = 0;
	#checkedAt = 0;
	#timer: NodeJS.Timeout | undefined;

	constructor(isLimited: () => boolean, now: () => number = () => performance.now()) {
		this.#isLimited = isLimited;
		this.#now = now;
	}

	/** Calls `start` at once or later. Returns a function that removes it from the queue. */
	add(start: () => void): () => void {
		this.#queue.add(start);
		if (!this.#timer) this.#next();
		return () => void this.#queue.delete(start);
	}

	#next(): void {
		this.#timer = undefined;
		for (const start of this.#queue) {
			const startedAt = this.#now();
			this.#debtMs = Math.max(0, this.#debtMs - (startedAt - this.#checkedAt) / COST_FACTOR);
			this.#checkedAt = startedAt;
			if (this.#debtMs >= BURST_MS && this.#isLimited()) {
				this.#timer = setTimeout(() => this.#next(), (this.#debtMs - BURST_MS) * COST_FACTOR + 1).unref();
				return;
			}
			this.#queue.delete(start);
			start();
			this.#debtMs += Math.min(this.#now() - startedAt, MAX_COST_MS);
			this.#checkedAt = this.#now();
		}
	}
}

const queuesByPrincipal = new BoundedMap<string, StartQueue>(MAX_PRINCIPALS);

/** Returns the queue of the principal with this token. It is limited once there are several principals. */
export function startQueueOf(token: string): StartQueue {
	const queue = queuesByPrincipal.get(token) ?? new StartQueue(() => queuesByPrincipal.size > 1);
	if (!queuesByPrincipal.has(token)) queuesByPrincipal.set(token, queue);
	return queue;
}
