import {performance} from 'node:perf_hooks';
import type {Envelope} from '../../core/envelope.js';
import type {Log} from '../../core/log.js';
import {redactStart} from '../../core/redact.js';
import {RateLimiter} from '../../util/rate-limiter.js';

/** Characters of an invalid message that are logged. */
const EXCERPT = 200;
/** Bytes that are decoded for the excerpt. More than its length, because redaction shortens a text. */
const MAX_DECODED = 16 * 1024;
/** Rate limit on entries: a log entry is much longer than the two bytes that can cause it. */
const [MAX_ENTRIES, WINDOW_MS] = [100, 10_000];

/** Logs invalid messages with their sender, flaw and start. In a flood, only counts them. */
export class StrayOutputLog {
	readonly #log: Log;
	readonly #rate: RateLimiter | undefined;
	#suppressed = 0;

	/** With `isUnlimited`, logs every message, because the log is its only trace. */
	constructor(log: Log, isUnlimited: boolean) {
		this.#log = log;
		this.#rate = isUnlimited ? undefined : new RateLimiter(MAX_ENTRIES, WINDOW_MS, () => performance.now());
	}

	warn(event: string, {origin, bytes}: Envelope, flaw: string): void {
		if (this.#rate && !this.#rate.tryAcquire()) {
			this.#suppressed++;
			return;
		}
		const start = redactStart(bytes.toString('utf8', 0, MAX_DECODED), EXCERPT);
		const more = this.#suppressed > 0 ? {leftOut: this.#suppressed} : {};
		this.#suppressed = 0;
		this.#log.warn(event, `${origin.name} sent an invalid message (${flaw}); it was not forwarded.`, {
			side: origin.name,
			start,
			...more,
		});
	}
}
