const MAX_EVENTS = 1000;
const MAX_BYTES = 4 * 2 ** 20;

/** An event that was sent, or would have been if the client had been there. */
type Sent = {readonly stream: number; readonly place: number; readonly data: Buffer};

/** What a client that comes back may have missed: the last events of all streams of a session. The oldest go first. */
export class EventBuffer {
	#events: Sent[] = [];
	#bytes = 0;

	add(stream: number, place: number, data: Buffer): void {
		this.#events.push({stream, place, data});
		this.#bytes += data.length;
		if (this.#events.length > MAX_EVENTS || this.#bytes > MAX_BYTES) this.#makeRoom();
	}

	/** Whether there is anything left of a stream. */
	has(stream: number): boolean {
		return this.#events.some(sent => sent.stream === stream);
	}

	/** The events of a stream behind a place in it, and whether none of them is gone. */
	since(stream: number, place: number): {readonly events: readonly Sent[]; readonly isWhole: boolean} {
		const events = this.#events.filter(sent => sent.stream === stream && sent.place > place);
		return {events, isWhole: events.every((sent, at) => sent.place === place + 1 + at)};
	}

	/** Leaves a quarter of the room free, so that it is not made for each event. */
	#makeRoom(): void {
		let count = 0;
		while (this.#events.length - count > (MAX_EVENTS * 3) / 4 || this.#bytes > (MAX_BYTES * 3) / 4) {
			const oldest = this.#events[count];
			if (!oldest || count === this.#events.length - 1) break;
			this.#bytes -= oldest.data.length;
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
