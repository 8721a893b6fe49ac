import {performance} from 'node:perf_hooks';
import type {HttpReply} from './http-reply.js';

/** After how long a client is to see a sign, by the method that it waits for; without it, never. */
export type SignAfter = (method: string | undefined) => number | undefined;

/**
 * Begins the streams of replies that take long, so that their clients see that somebody is there, and can take up a stream
 * that breaks. One timer does for all: no reply waits more than twice as long as it should.
 */
export class SignsOfLife {
	readonly #replies: () => Iterable<HttpReply>;
	readonly #afterMs: SignAfter;
	#timer: NodeJS.Timeout | undefined;

	constructor(replies: () => Iterable<HttpReply>, afterMs: SignAfter = () => undefined) {
		this.#replies = replies;
		this.#afterMs = afterMs;
	}

	/** To be called when there is a new reply. */
	watch({request}: HttpReply): void {
		if (!this.#timer) this.#lookAfter(this.#afterMs(request.head.method));
	}

	stop(): void {
		clearTimeout(this.#timer);
	}

	#lookAfter(ms: number | undefined): void {
		if (ms !== undefined) this.#timer = setTimeout(() => this.#look(), ms).unref();
	}

	#look(): void {
		this.#timer = undefined;
		const now = performance.now();
		let nextMs: number | undefined;
		for (const reply of this.#replies()) {
			const afterMs = this.#afterMs(reply.request.head.method);
			if (reply.isBegun || !reply.canStream || afterMs === undefined) continue;
			if (now - reply.since >= afterMs) reply.begin();
			else nextMs = Math.min(nextMs ?? afterMs, afterMs);
		}
		this.#lookAfter(nextMs);
	}
}
