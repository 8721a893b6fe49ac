import {bufferLimit, type EvictableBuffer} from '../../core/buffer-limit.js';
import {Envelope} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {compactBytes} from '../../util/compact-bytes.js';

const MAX_EVENTS = 1000;
/** Bytes of all events of a session, and so of one event. */
export const MAX_BUFFERED_BYTES = 4 * 2 ** 20;

/** Takes the place of a response that is not kept, so that a client that resumes does not wait for it forever. */
const responseNotBuffered = new BridgeError(
	'ERR_MESSAGE_TOO_LARGE',
	`The stream was interrupted, and the response was not kept for a client that resumes: it has more than ${MAX_BUFFERED_BYTES} bytes, or the buffers of all sessions were full (limits.kept).`,
	'Send the request again if it may run twice.',
	{limit: MAX_BUFFERED_BYTES},
);

/** An event that was sent, or would have been if the client had been there. */
type BufferedEvent = {readonly stream: number; readonly sequence: number; readonly data: Buffer};
/** The same. `data` is undefined for an event that was not kept, `id` is that of a response; `null` for a batch of them. */
type StoredEvent = Omit<BufferedEvent, 'data'> & {
	readonly data: Buffer | undefined;
	readonly id: string | undefined;
};

/** What a client that comes back may have missed: the last events of all streams of a session. The oldest go first. */
export class EventBuffer implements EvictableBuffer {
	#events: StoredEvent[] = [];
	#bytes = 0;

	constructor() {
		bufferLimit.register(this);
	}

	get bufferedBytes(): number {
		return this.#bytes;
	}

	/**
	 * An event over the limit is not kept: to a client that comes back, it is one of those that are gone. A response, which
	 * has an `id`, is replaced by an error.
	 */
	add(stream: number, sequence: number, data: Buffer, id?: string): void {
		const stored = data.length > MAX_BUFFERED_BYTES ? undefined : compactBytes(data);
		this.#events.push({stream, sequence, data: stored, id});
		this.#bytes += stored?.length ?? 0;
		bufferLimit.added(stored?.length ?? 0);
		if (this.#events.length > MAX_EVENTS || this.#bytes > MAX_BUFFERED_BYTES) this.#evictOldest();
	}

	/** Whether there is anything left of a stream. */
	has(stream: number): boolean {
		return this.#events.some(sent => sent.stream === stream);
	}

	/** The events of a stream behind a place in it, and whether none of them is gone. */
	eventsAfter(
		stream: number,
		sequence: number,
	): {readonly events: readonly BufferedEvent[]; readonly isWhole: boolean} {
		const all = this.#events.filter(sent => sent.stream === stream && sent.sequence > sequence);
		const events = all.flatMap(({data, id, ...event}) => {
			const sent = data ?? replacementFor(id);
			return sent ? [{...event, data: sent}] : [];
		});
		const isWhole =
			events.length === all.length && events.every((event, at) => event.sequence === sequence + 1 + at);
		return {events, isWhole};
	}

	/** To a client that comes back, evicted responses are errors, and other evicted events are gone. */
	evict(): void {
		this.#events = this.#events.map(event => ({...event, data: undefined}));
		this.#bytes = 0;
	}

	/** Leaves a quarter of the room free, so that it is not made for each event. */
	#evictOldest(): void {
		let count = 0;
		while (this.#events.length - count > (MAX_EVENTS * 3) / 4 || this.#bytes > (MAX_BUFFERED_BYTES * 3) / 4) {
			const oldest = this.#events[count];
			if (!oldest || count === this.#events.length - 1) break;
			this.#bytes -= oldest.data?.length ?? 0;
			count++;
		}
		this.#events = this.#events.slice(count);
	}
}

/** The event in the place of a response that is not kept. */
const replacementFor = (id: string | undefined): Buffer | undefined =>
	id === undefined ? undefined : Envelope.errorResponse(id, responseNotBuffered).bytes;

export type EventId = {readonly stream: number; readonly sequence: number};

/** Where a client was, as it says in `Last-Event-ID`. */
export function parseEventId(id: string): EventId | undefined {
	const [, stream, sequence] = /^(\d{1,9})-(\d{1,9})$/.exec(id) ?? [];
	return stream === undefined ? undefined : {stream: Number(stream), sequence: Number(sequence)};
}

export const formatEventId = (stream: number, sequence: number): string => `${stream}-${sequence}`;
