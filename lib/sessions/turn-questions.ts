import {BoundedMap} from '../bounded-map.js';
import type {Job} from './job.js';

/** As many as the backend may have pending. */
const MAX_PENDING = 1000;

/** What the client is asked in the course of turns: approvals and forms. The clock of such a turn does not run. */
export class TurnQuestions {
	readonly #jobOn: (threadId: unknown) => Job | undefined;
	/** By the keys of the requests to the client. */
	readonly #pending = new BoundedMap<string, Job>(MAX_PENDING);

	constructor(jobOn: (threadId: unknown) => Job | undefined) {
		this.#jobOn = jobOn;
	}

	/** The client is asked for something on a thread. */
	asked(threadId: unknown, key: string): void {
		const job = this.#jobOn(threadId);
		if (!job) return;
		this.#pending.set(key, job);
		job.hold(key);
	}

	/** The client has responded, or the request was withdrawn. */
	settled(key: string): void {
		this.#pending.take(key)?.release(key);
	}
}
