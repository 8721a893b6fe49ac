import {performance} from 'node:perf_hooks';
import type {HttpReply} from './http-reply.js';

/** Returns the delay before the reply to a method becomes an event stream; undefined for no limit. */
export type StreamDelay = (method: string | undefined) => number | undefined;

/**
 * Starts the event streams of slow replies, so that clients see a live connection and can resume it after a
 * failure. All replies share one timer, so a stream starts after at most twice its delay.
 */
export class SlowReplies {
	readonly #replies: () => Iterable<HttpReply>;
	readonly #delayMs: StreamDelay;
	#timer: NodeJS.Timeout | undefined;

	constructor(replies: () => Iterable<HttpReply>, delayMs: StreamDelay = () => undefined) {
		this.#replies = replies;
		this.#delayMs = delayMs;
	}

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
