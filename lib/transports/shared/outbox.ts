import type {Envelope} from '../../envelope.js';
import type {Valve} from '../../valve.js';
import {compact} from '../compact.js';

export type OutboxOptions = {
	/** Shut by the client's transport while it takes no more. */
	readonly valve: Valve;
	readonly deliver: (envelope: Envelope) => void;
	/** Has who does not read say no more, either, until the result is called. */
	readonly hold: () => () => void;
	/** The client has not read for too long, or left too much unread. */
	readonly stalled: (unreadBytes: number) => void;
	readonly maxBytes: number;
	readonly graceMs: number;
};

/** Messages that went out are let go of in portions. */
const PORTION = 1000;

/**
 * What a client is to hear. One that does not read keeps nobody else waiting: what there is for it waits here, and when
 * that is too much, or it takes too long, it has stalled. A message over the limit may wait as long as it is alone.
 */
export class Outbox {
	readonly #options: OutboxOptions;
	#queue: Envelope[] = [];
	/** Where the first of them is that has not gone out. */
	#at = 0;
	#bytes = 0;
	#grace: NodeJS.Timeout | undefined;
	#release: (() => void) | undefined;
	#isClosed = false;
	#onEmpty: (() => void) | undefined;

	constructor(options: OutboxOptions) {
		this.#options = options;
	}

	add(envelope: Envelope): void {
		if (this.#isClosed) return;
		const {valve, deliver, maxBytes} = this.#options;
		const isEmpty = this.#queue.length === 0;
		if (isEmpty && valve.isOpen) {
			deliver(envelope);
			return;
		}
		const bytes = this.#bytes + envelope.size;
		if (!isEmpty && bytes > maxBytes) {
			this.#stall();
			return;
		}
		this.#bytes = bytes;
		this.#queue.push(compact(envelope));
		if (!isEmpty) return;
		this.#release = this.#options.hold();
		this.#wait();
	}

	/** Runs `proceed` when nothing waits. */
	whenEmpty(proceed: () => void): void {
		if (this.#queue.length === 0) proceed();
		else this.#onEmpty = proceed;
	}

	/** What waits is dropped: whoever it was for is gone. */
	close(): void {
		this.#isClosed = true;
		clearTimeout(this.#grace);
		this.#queue = [];
		this.#release?.();
	}

	#wait(): void {
		const {valve, graceMs} = this.#options;
		// What has happened while this process was kept from running is seen to first.
		this.#grace = setTimeout(() => setImmediate(() => this.#expired()), graceMs).unref();
		valve.whenOpen(() => this.#drain());
	}

	#expired(): void {
		if (this.#grace && !this.#isClosed) this.#stall();
	}

	#drain(): void {
		const {valve, deliver} = this.#options;
		clearTimeout(this.#grace);
		this.#grace = undefined;
		for (let next = this.#queue[this.#at]; next && valve.isOpen; next = this.#queue[this.#at]) {
			this.#at++;
			this.#bytes -= next.size;
			deliver(next);
		}
		if (this.#isClosed) return;
		if (this.#at === this.#queue.length) {
			this.#empty();
			return;
		}
		if (this.#at > PORTION) {
			this.#queue.splice(0, this.#at);
			this.#at = 0;
		}
		this.#wait();
	}

	#empty(): void {
		this.#queue = [];
		this.#at = 0;
		this.#release?.();
		this.#release = undefined;
		this.#onEmpty?.();
	}

	#stall(): void {
		const bytes = this.#bytes;
		this.close();
		this.#options.stalled(bytes);
	}
}
