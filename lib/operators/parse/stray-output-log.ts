import {performance} from 'node:perf_hooks';
import type {Envelope} from '../../core/envelope.js';
import type {Log} from '../../core/log.js';
import {redactStart} from '../../core/redact.js';
import {RateLimiter} from '../../util/rate-limiter.js';

/** How much of something that is no message is shown in the log. */
const EXCERPT = 200;
/** Bytes that are decoded for it: redaction makes a text shorter. */
const MAX_DECODED = 16 * 1024;
/** How often it is, in a stretch of time: two bytes of a peer must not cost hundreds of the log, for ever. */
const [MAX_ENTRIES, WINDOW_MS] = [100, 10_000];

/** Tells people of what is no message: where it came from, what is wrong, how it begins; and of a flood, how much there was. */
export class StrayOutputLog {
	readonly #log: Log;
	readonly #rate: RateLimiter | undefined;
	#suppressed = 0;

	/** Where `isEach`, all of them are told of, since nothing else is left of them. */
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
		this.#log.warn(event, `${origin.name} sent something that is ${flaw}; it was not passed on.`, {
			side: origin.name,
			start,
			...more,
		});
	}
}
