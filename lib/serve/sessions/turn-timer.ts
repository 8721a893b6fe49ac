import {performance} from 'node:perf_hooks';

/** The time limit of a turn. It does not run while the client is asked for something. */
export class TurnTimer {
	readonly #onTimeout: () => void;
	/** The keys of the pending requests to the client. */
	readonly #pendingRequests = new Set<string>();
	#remainingMs: number;
	#startedAt = performance.now();
	#timer: NodeJS.Timeout | undefined;
	#isStopped = false;

	constructor(ms: number, onTimeout: () => void) {
		this.#remainingMs = ms;
		this.#onTimeout = onTimeout;
		this.#start();
	}

	/** The client is asked. */
	pause(requestKey: string): void {
		if (this.#pendingRequests.size === 0) {
			clearTimeout(this.#timer);
			this.#remainingMs -= performance.now() - this.#startedAt;
		}
		this.#pendingRequests.add(requestKey);
	}

	/** The client has responded, or is not asked any more. */
	resume(requestKey: string): void {
		if (this.#pendingRequests.delete(requestKey) && this.#pendingRequests.size === 0 && !this.#isStopped)
			this.#start();
	}

	stop(): void {
		this.#isStopped = true;
		clearTimeout(this.#timer);
	}

	#start(): void {
		this.#startedAt = performance.now();
		this.#timer = setTimeout(this.#onTimeout, Math.max(1, this.#remainingMs));
	}
}
