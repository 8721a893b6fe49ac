import {performance} from 'node:perf_hooks';
import type {HttpReply} from './http-reply.js';

/**
 * Begins the streams of replies that take long, so that their clients see that somebody is there, and can take up a stream
 * that breaks. One timer does for all: no reply waits more than twice as long as it should.
 */
export class SignsOfLife {
	readonly #replies: () => Iterable<HttpReply>;
	readonly #afterMs: () => number | undefined;
	#timer: NodeJS.Timeout | undefined;

	/** `afterMs` is how long a client waits without a sign; without it, for as long as it takes. */
	constructor(replies: () => Iterable<HttpReply>, afterMs: () => number | undefined) {
		this.#replies = replies;
		this.#afterMs = afterMs;
	}

	/** To be called when there is a new reply. */
	watch(): void {
		const afterMs = this.#timer ? undefined : this.#afterMs();
		if (afterMs !== undefined) this.#timer = setTimeout(() => this.#look(afterMs), afterMs).unref();
	}

	stop(): void {
		clearTimeout(this.#timer);
	}

	#look(afterMs: number): void {
		this.#timer = undefined;
		const now = performance.now();
		let isAnyQuiet = false;
		for (const reply of this.#replies()) {
			if (reply.isBegun || !reply.canStream) continue;
			if (now - reply.since >= afterMs) reply.begin();
			else isAnyQuiet = true;
		}
		if (isAnyQuiet) this.watch();
	}
}
