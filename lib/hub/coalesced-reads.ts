import {performance} from 'node:perf_hooks';
import {pause} from '../util/pause.js';
import {unlessAborted} from '../util/unless-aborted.js';

/**
 * How long a read counts as recent, in milliseconds, unless it is invalidated. Names that it did not find are
 * not read again.
 */
const MAX_AGE_MS = 5000;
/** The minimum time from the end of a read to the start of the next, in milliseconds. */
const MIN_INTERVAL_MS = 1000;

/**
 * Reads lists to find names that they did not contain before. One read at a time serves all waiting requests.
 */
export class CoalescedReads {
	readonly #read: () => Promise<void>;
	#reading: Promise<void> | undefined;
	#endedAt = Number.NEGATIVE_INFINITY;
	#isInvalidated = false;

	constructor(read: () => Promise<void>) {
		this.#read = read;
	}

	/** Invalidates the last read, and a read that is still running. */
	invalidate(): void {
		this.#isInvalidated = true;
	}

	/**
	 * Resolves when there is a recent read. Rejects as soon as the signal is aborted, but the read continues.
	 */
	async ensureRecent(signal: AbortSignal): Promise<void> {
		// A running read may have missed the last change, but the one after it cannot.
		if (this.#reading !== undefined) await unlessAborted(this.#reading, signal);
		if (this.#isRecent) return;
		this.#reading ??= this.#readOnce().finally(() => {
			this.#reading = undefined;
		});
		await unlessAborted(this.#reading, signal);
	}

	get #isRecent(): boolean {
		return !this.#isInvalidated && performance.now() - this.#endedAt < MAX_AGE_MS;
	}

	async #readOnce(): Promise<void> {
		const waitMs = this.#endedAt + MIN_INTERVAL_MS - performance.now();
		if (waitMs > 0) await pause(waitMs);
		this.#isInvalidated = false;
		try {
			await this.#read();
		} finally {
			this.#endedAt = performance.now();
		}
	}
}
