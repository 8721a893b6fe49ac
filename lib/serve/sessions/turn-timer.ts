import {performance} from 'node:perf_hooks';

/** The time limit of a turn. Paused while server requests are pending. */
export class TurnTimer {
	readonly #onTimeout: () => void;
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

	pause(requestKey: string): void {
		if (this.#pendingRequests.size === 0) {
			clearTimeout(this.#timer);
			this.#remainingMs -= performance.now() - this.#startedAt;
		}
		this.#pendingRequests.add(requestKey);
	}

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
