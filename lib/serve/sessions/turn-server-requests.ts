import {BoundedMap} from '../../util/bounded-map.js';
import type {TurnRun} from './turn-run.js';

/** As many as the backend may have pending. */
const MAX_PENDING = 1000;

/** What the client is asked in the course of turns: approvals and forms. The clock of such a turn does not run. */
export class TurnServerRequests {
	readonly #findRun: (threadId: unknown) => TurnRun | undefined;
	/** By the keys of the requests to the client. */
	readonly #pending = new BoundedMap<string, TurnRun>(MAX_PENDING);

	constructor(findRun: (threadId: unknown) => TurnRun | undefined) {
		this.#findRun = findRun;
	}

	/** The client is asked for something on a thread. */
	add(threadId: unknown, key: string): void {
		const run = this.#findRun(threadId);
		if (!run) return;
		this.#pending.set(key, run);
		run.pauseTimeLimit(key);
	}

	/** The client has responded, or the request was withdrawn. */
	settle(key: string): void {
		this.#pending.take(key)?.resumeTimeLimit(key);
	}
}
