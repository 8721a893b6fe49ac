import {performance} from 'node:perf_hooks';
import type {HttpReply} from './http-reply.js';

/** After how long a client is to see a sign, by the method that it waits for; without it, never. */
export type StreamDelay = (method: string | undefined) => number | undefined;

/**
 * Begins the streams of replies that take long, so that their clients see that somebody is there, and can take up a stream
 * that breaks. One timer does for all: no reply waits more than twice as long as it should.
 */
export class SlowReplies {
	readonly #replies: () => Iterable<HttpReply>;
	readonly #delayMs: StreamDelay;
	#timer: NodeJS.Timeout | undefined;

	constructor(replies: () => Iterable<HttpReply>, delayMs: StreamDelay = () => undefined) {
		this.#replies = replies;
		this.#delayMs = delayMs;
	}

	/** To be called when there is a new reply. */
	watch({request}: HttpReply): void {
		if (!this.#timer) this.#checkAfter(this.#delayMs(request.head.method));
	}

	stop(): void {
		clearTimeout(this.#timer);
	}

	#checkAfter(ms: number | undefined): void {
		if (ms !== undefined) this.#timer = setTimeout(() => this.#check(), ms).unref();
	}

	#check(): void {
		this.#timer = undefined;
		const now = performance.now();
		let nextMs: number | undefined;
		for (const reply of this.#replies()) {
			const delayMs = this.#delayMs(reply.request.head.method);
			if (reply.isStarted || !reply.canStream || delayMs === undefined) continue;
			if (now - reply.startedAt >= delayMs) reply.start();
			else nextMs = Math.min(nextMs ?? delayMs, delayMs);
		}
		this.#checkAfter(nextMs);
	}
}
