import {Envelope} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {type Keeper, keptBytes} from '../kept-bytes.js';
import {compactBytes} from './compact-bytes.js';

const MAX_EVENTS = 1000;
/** Bytes of all events of a session, and so of one event. */
export const MAX_BYTES = 4 * 2 ** 20;

/** Takes the place of a response that is not kept, so that a client that resumes does not wait for it forever. */
const notKept = new BridgeError(
	'ERR_MESSAGE_TOO_LARGE',
	`The stream was interrupted, and the response was not kept for a client that resumes: it has more than ${MAX_BYTES} bytes, or the buffers of all sessions were full (limits.kept).`,
	'Send the request again if it may run twice.',
	{limit: MAX_BYTES},
);

/** An event that was sent, or would have been if the client had been there. */
type Sent = {readonly stream: number; readonly place: number; readonly data: Buffer};
/** The same. `data` is undefined for an event that was not kept, `id` is that of a response; `null` for a batch of them. */
type Kept = Omit<Sent, 'data'> & {readonly data: Buffer | undefined; readonly id: string | undefined};

/** What a client that comes back may have missed: the last events of all streams of a session. The oldest go first. */
export class EventBuffer implements Keeper {
	#events: Kept[] = [];
	#bytes = 0;

	constructor() {
		keptBytes.register(this);
	}

	get keptBytes(): number {
		return this.#bytes;
	}

	/**
	 * An event over the limit is not kept: to a client that comes back, it is one of those that are gone. A response, which
	 * has an `id`, is replaced by an error.
	 */
	add(stream: number, place: number, data: Buffer, id?: string): void {
		const kept = data.length > MAX_BYTES ? undefined : compactBytes(data);
		this.#events.push({stream, place, data: kept, id});
		this.#bytes += kept?.length ?? 0;
		keptBytes.added(kept?.length ?? 0);
		if (this.#events.length > MAX_EVENTS || this.#bytes > MAX_BYTES) this.#makeRoom();
	}

	/** Whether there is anything left of a stream. */
	has(stream: number): boolean {
		return this.#events.some(sent => sent.stream === stream);
	}

	/** The events of a stream behind a place in it, and whether none of them is gone. */
	since(stream: number, place: number): {readonly events: readonly Sent[]; readonly isWhole: boolean} {
		const all = this.#events.filter(sent => sent.stream === stream && sent.place > place);
		const events = all.flatMap(({data, id, ...event}) => {
			const sent = data ?? insteadOf(id);
			return sent ? [{...event, data: sent}] : [];
		});
		const isWhole =
			events.length === all.length && events.every((event, at) => event.place === place + 1 + at);
		return {events, isWhole};
	}

	/** To a client that comes back, evicted responses are errors, and other evicted events are gone. */
	evict(): void {
		this.#events = this.#events.map(event => ({...event, data: undefined}));
		this.#bytes = 0;
	}

	/** Leaves a quarter of the room free, so that it is not made for each event. */
	#makeRoom(): void {
		let count = 0;
		while (this.#events.length - count > (MAX_EVENTS * 3) / 4 || this.#bytes > (MAX_BYTES * 3) / 4) {
			const oldest = this.#events[count];
			if (!oldest || count === this.#events.length - 1) break;
			this.#bytes -= oldest.data?.length ?? 0;
			count++;
		}
		this.#events = this.#events.slice(count);
	}
}

/** The event in the place of a response that is not kept. */
const insteadOf = (id: string | undefined): Buffer | undefined =>
	id === undefined ? undefined : Envelope.failure(id, notKept).bytes;

export type Place = {readonly stream: number; readonly place: number};

/** Where a client was, as it says in `Last-Event-ID`. */
export function placeOf(id: string): Place | undefined {
	const [, stream, place] = /^(\d{1,9})-(\d{1,9})$/.exec(id) ?? [];
	return stream === undefined ? undefined : {stream: Number(stream), place: Number(place)};
}

export const eventId = (stream: number, place: number): string => `${stream}-${place}`;
