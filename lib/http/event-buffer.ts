import {compactBytes} from './compact-bytes.js';

const MAX_EVENTS = 1000;
/** Bytes of all events of a session, and so of one event. */
export const MAX_BYTES = 4 * 2 ** 20;

/** An event that was sent, or would have been if the client had been there. */
type Sent = {readonly stream: number; readonly place: number; readonly data: Buffer};
/** The same, or that it was too long to be kept. */
type Kept = Omit<Sent, 'data'> & {readonly data: Buffer | undefined};

/** What a client that comes back may have missed: the last events of all streams of a session. The oldest go first. */
export class EventBuffer {
	#events: Kept[] = [];
	#bytes = 0;

	/** An event over the limit is not kept: to a client that comes back, it is one of those that are gone. */
	add(stream: number, place: number, data: Buffer): void {
		const kept = data.length > MAX_BYTES ? undefined : compactBytes(data);
		this.#events.push({stream, place, data: kept});
		this.#bytes += kept?.length ?? 0;
		if (this.#events.length > MAX_EVENTS || this.#bytes > MAX_BYTES) this.#makeRoom();
	}

	/** Whether there is anything left of a stream. */
	has(stream: number): boolean {
		return this.#events.some(sent => sent.stream === stream);
	}

	/** The events of a stream behind a place in it, and whether none of them is gone. */
	since(stream: number, place: number): {readonly events: readonly Sent[]; readonly isWhole: boolean} {
		const all = this.#events.filter(sent => sent.stream === stream && sent.place > place);
		const events = all.filter((kept): kept is Sent => kept.data !== undefined);
		return {events, isWhole: all.every(({place: at, data}, index) => data && at === place + 1 + index)};
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

export type Place = {readonly stream: number; readonly place: number};

/** Where a client was, as it says in `Last-Event-ID`. */
export function placeOf(id: string): Place | undefined {
	const [, stream, place] = /^(\d{1,9})-(\d{1,9})$/.exec(id) ?? [];
	return stream === undefined ? undefined : {stream: Number(stream), place: Number(place)};
}

export const eventId = (stream: number, place: number): string => `${stream}-${place}`;
