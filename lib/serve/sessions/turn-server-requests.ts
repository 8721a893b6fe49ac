import {BoundedMap} from '../../util/bounded-map.js';
import type {TurnRun} from './turn-run.js';

/** Matches the backend's limit of pending requests. */
const MAX_PENDING = 1000;

/** Pending server requests of turns, such as approvals and forms. They pause the time limit of their turn. */
export class TurnServerRequests {
	readonly #findRun: (threadId: unknown) => TurnRun | undefined;
	/** By request key. */
	readonly #pending = new BoundedMap<string, TurnRun>(MAX_PENDING);

	constructor(findRun: (threadId: unknown) => TurnRun | undefined) {
		this.#findRun = findRun;
	}

	/** Registers a server request of a thread. */
	add(threadId: unknown, key: string): void {
		const run = this.#findRun(threadId);
		if (!run) return;
		this.#pending.set(key, run);
		run.pauseTimeLimit(key);
	}

	/** Removes a request that the client has responded to or that was cancelled. */
	settle(key: string): void {
		this.#pending.take(key)?.resumeTimeLimit(key);
	}
}
