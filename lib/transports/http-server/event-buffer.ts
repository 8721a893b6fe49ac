import {bufferLimit, type EvictableBuffer} from '../../core/buffer-limit.js';
import {Envelope} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {compactBytes} from '../../util/compact-bytes.js';

const MAX_EVENTS = 1000;
/** The limit for all events of a session, and therefore for one event. */
export const MAX_BUFFERED_BYTES = 4 * 2 ** 20;

/**
 * Replaces a response that is not buffered, so that a client that resumes the stream does not wait forever.
 */
const responseNotBuffered = new BridgeError(
	'ERR_MESSAGE_TOO_LARGE',
	`The stream was interrupted and the response was not buffered for resumption: it is larger than ${MAX_BUFFERED_BYTES} bytes, or the buffers of all sessions were full (limits.kept).`,
	'Send the request again if it may run twice.',
	{limit: MAX_BUFFERED_BYTES},
);

/** An event that was sent, or could not be sent because the client was disconnected. */
type BufferedEvent = {readonly stream: number; readonly sequence: number; readonly data: Buffer};
/**
 * `data` is undefined for an evicted or oversized event. `id` is that of a response, or `null` for a batch.
 */
type StoredEvent = Omit<BufferedEvent, 'data'> & {
	readonly data: Buffer | undefined;
	readonly id: string | undefined;
};

/** The latest events of all streams of a session, for resumption. The oldest are evicted first. */
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
	 * Adds an event. The data of an event over the limit is not buffered, as if the event had been evicted. A
	 * response, which has an `id`, is replaced by an error.
	 */
	add(stream: number, sequence: number, data: Buffer, id?: string): void {
		const stored = data.length > MAX_BUFFERED_BYTES ? undefined : compactBytes(data);
		this.#events.push({stream, sequence, data: stored, id});
		this.#bytes += stored?.length ?? 0;
		bufferLimit.added(stored?.length ?? 0);
		if (this.#events.length > MAX_EVENTS || this.#bytes > MAX_BUFFERED_BYTES) this.#evictOldest();
	}

	has(stream: number): boolean {
		return this.#events.some(sent => sent.stream === stream);
	}

	/** The events of a stream after a sequence number, and whether none is missing. */
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

	/** Evicts all data. On resumption, responses are replaced by errors, and other events are missing. */
	evict(): void {
		this.#events = this.#events.map(event => ({...event, data: undefined}));
		this.#bytes = 0;
	}

	/** Evicts down to three quarters of the limits, so that not every event causes an eviction. */
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

/** The error that replaces a response; undefined for other events. */
const replacementFor = (id: string | undefined): Buffer | undefined =>
	id === undefined ? undefined : Envelope.errorResponse(id, responseNotBuffered).bytes;

export type EventId = {readonly stream: number; readonly sequence: number};

/** Parses `Last-Event-ID`; undefined if it is not an id of bridge. */
export function parseEventId(id: string): EventId | undefined {
	const [, stream, sequence] = /^(\d{1,9})-(\d{1,9})$/.exec(id) ?? [];
	return stream === undefined ? undefined : {stream: Number(stream), sequence: Number(sequence)};
}

export const formatEventId = (stream: number, sequence: number): string => `${stream}-${sequence}`;
