import {compactEnvelope} from '../../core/compact-envelope.js';
import type {Envelope} from '../../core/envelope.js';
import type {Valve} from '../../core/valve.js';

type SendBufferOptions = {
	/** Shut by the client's transport while it applies backpressure. */
	readonly valve: Valve;
	readonly deliver: (envelope: Envelope) => void;
	/** Stops reading from the client until the returned function is called. */
	readonly shutSender: () => () => void;
	/** Called when the backlog exceeds `maxBytes`, or has not drained after `graceMs`. */
	readonly onStalled: (unreadBytes: number) => void;
	readonly maxBytes: number;
	readonly graceMs: number;
};

/** Sent messages are removed from the queue in portions of this size. */
const MAX_SENT_ENTRIES = 1000;

/**
 * The outgoing messages of one client. A client that stops reading does not block others: its messages are
 * queued. It has stalled when its backlog is too large or does not drain in time. A single message may exceed
 * the limit.
 */
export class SendBuffer {
	readonly #options: SendBufferOptions;
	#queue: Envelope[] = [];
	/** Index of the first message that was not sent. */
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

	/** Calls `onEmpty` as soon as the queue is empty. */
	whenEmpty(onEmpty: () => void): void {
		if (this.#queue.length === 0) onEmpty();
		else this.#onEmpty = onEmpty;
	}

	/** Drops the backlog. The client has disconnected. */
	close(): void {
		this.#isClosed = true;
		clearTimeout(this.#graceTimer);
		this.#queue = [];
		this.#openSender?.();
	}

	#waitForValve(): void {
		const {valve, graceMs} = this.#options;
		// setImmediate lets events that arrived while this process was blocked take effect first.
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
