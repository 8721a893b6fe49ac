import {performance} from 'node:perf_hooks';
import {BoundedMap} from '../util/bounded-map.js';

/** Starting a process blocks the event loop: for each millisecond of it, a principal waits this many. */
const COST_FACTOR = 10;
/** Milliseconds of starts that a principal may cause at once. */
const BURST_MS = 250;
/** The most that one start counts: on a busy machine it waits for the CPU, which is not the principal's doing. */
const MAX_COST_MS = 10;
/** Principals whose starts are counted. The oldest is evicted for the next; its queued processes still start. */
const MAX_PRINCIPALS = 1000;

/**
 * The starts of processes of one principal, in order. A storm of sessions takes at most a tenth of the event loop, where other
 * principals need it. Each queued start belongs to a session, so that the limit of sessions is the limit of the queue.
 */
export class StartQueue {
	readonly #isLimited: () => boolean;
	readonly #now: () => number;
	readonly #queue = new Set<() => void>();
	/** Milliseconds of starts that the principal has not waited for yet, at the time `#since`. */
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

/** The starts of the principal with this token. They are limited once there are several principals. */
export function startQueueOf(token: string): StartQueue {
	const queue = queuesByPrincipal.get(token) ?? new StartQueue(() => queuesByPrincipal.size > 1);
	if (!queuesByPrincipal.has(token)) queuesByPrincipal.set(token, queue);
	return queue;
}
