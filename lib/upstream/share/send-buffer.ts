import {compactEnvelope} from '../../core/compact-envelope.js';
import type {Envelope} from '../../core/envelope.js';
import type {Valve} from '../../core/valve.js';

type SendBufferOptions = {
	/** Shut by the client's transport while it takes no more. */
	readonly valve: Valve;
	readonly deliver: (envelope: Envelope) => void;
	/** Has who does not read say no more, either, until the result is called. */
	readonly shutSender: () => () => void;
	/** The client has not read for too long, or left too much unread. */
	readonly onStalled: (unreadBytes: number) => void;
	readonly maxBytes: number;
	readonly graceMs: number;
};

/** Messages that went out are let go of in portions. */
const MAX_SENT_ENTRIES = 1000;

/**
 * What a client is to hear. One that does not read keeps nobody else waiting: what there is for it waits here, and when
 * that is too much, or it takes too long, it has stalled. A message over the limit may wait as long as it is alone.
 */
export class SendBuffer {
	readonly #options: SendBufferOptions;
	#queue: Envelope[] = [];
	/** Where the first of them is that has not gone out. */
	#head = 0;
	#bytes = 0;
	#graceTimer: NodeJS.Timeout | undefined;
	#openSender: (() => void) | undefined;
	#isClosed = false;
	#onEmpty: (() => void) | undefined;

	constructor(options: SendBufferOptions) {
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
		this.#queue.push(compactEnvelope(envelope));
		if (!isEmpty) return;
		this.#openSender = this.#options.shutSender();
		this.#waitForValve();
	}

	/** Runs `proceed` when nothing waits. */
	whenEmpty(onEmpty: () => void): void {
		if (this.#queue.length === 0) onEmpty();
		else this.#onEmpty = onEmpty;
	}

	/** What waits is dropped: whoever it was for is gone. */
	close(): void {
		this.#isClosed = true;
		clearTimeout(this.#graceTimer);
		this.#queue = [];
		this.#openSender?.();
	}

	#waitForValve(): void {
		const {valve, graceMs} = this.#options;
		// What has happened while this process was kept from running is seen to first.
		this.#graceTimer = setTimeout(() => setImmediate(() => this.#onGraceExpired()), graceMs).unref();
		valve.whenOpen(() => this.#drain());
	}

	#onGraceExpired(): void {
		if (this.#graceTimer && !this.#isClosed) this.#stall();
	}

	#drain(): void {
		const {valve, deliver} = this.#options;
		clearTimeout(this.#graceTimer);
		this.#graceTimer = undefined;
		for (let next = this.#queue[this.#head]; next && valve.isOpen; next = this.#queue[this.#head]) {
			this.#head++;
			this.#bytes -= next.size;
			deliver(next);
		}
		if (this.#isClosed) return;
		if (this.#head === this.#queue.length) {
			this.#onDrained();
			return;
		}
		if (this.#head > MAX_SENT_ENTRIES) {
			this.#queue.splice(0, this.#head);
			this.#head = 0;
		}
		this.#waitForValve();
	}

	#onDrained(): void {
		this.#queue = [];
		this.#head = 0;
		this.#openSender?.();
		this.#openSender = undefined;
		this.#onEmpty?.();
	}

	#stall(): void {
		const bytes = this.#bytes;
		this.close();
		this.#options.onStalled(bytes);
	}
}
