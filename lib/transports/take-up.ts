import type {ServerResponse} from 'node:http';
import {Envelope} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {eventId, type Place} from '../http/event-buffer.js';
import type {SharedEvents, Tale} from '../replicas/shared-events.js';
import type {SseMessage} from '../wire/sse.js';
import {SseStream} from './sse-stream.js';
import {lostEvents, type Noted, slowClient} from './stream-notes.js';

export type TakeUpOptions = Noted & {
	readonly shared: SharedEvents;
	readonly keepAliveMs?: number | undefined;
};

/**
 * Goes on with a stream that another replica began, for a client that has come here for the rest of it.
 *
 * An answer is told to its end, as it comes there: `taken`. Of what a server says of its own accord, all that was missed is
 * returned, since it goes on wherever the client listens. Nothing is returned if nothing is known of the stream.
 */
export async function takeUp(
	response: ServerResponse,
	{stream, place}: Place,
	options: TakeUpOptions,
): Promise<readonly SseMessage[] | 'taken' | undefined> {
	const tale = await options.shared.since(stream, place);
	if (!tale || response.destroyed) return response.destroyed ? 'taken' : undefined;
	if (!tale.isWhole) lostEvents(options, stream);
	if (tale.about !== undefined) new Continuation(response, {stream, place}, options).tell(tale);
	else return tale.events.map(event => messageOf(stream, event));
	return 'taken';
}

/** An answer that another replica gives, on its way to a client that asks for it here. */
class Continuation {
	readonly #stream: number;
	readonly #shared: SharedEvents;
	readonly #carrier: SseStream;
	readonly #stop: () => void;
	#place: number;
	#isLooking = false;

	constructor(response: ServerResponse, {stream, place}: Place, options: TakeUpOptions) {
		const {shared, keepAliveMs} = options;
		this.#stream = stream;
		this.#place = place;
		this.#shared = shared;
		this.#carrier = new SseStream(response, {
			onSlow: slowClient(options),
			...(keepAliveMs === undefined ? {} : {keepAliveMs}),
		});
		this.#stop = shared.watch(stream, () => void this.#look());
		void this.#carrier.closed.then(this.#stop);
	}

	tell({events, isOver}: Tale): void {
		for (const event of events) {
			if (event.place <= this.#place) continue;
			this.#place = event.place;
			this.#carrier.send(messageOf(this.#stream, event));
		}
		if (isOver) this.#end();
	}

	async #look(): Promise<void> {
		if (this.#isLooking) return;
		this.#isLooking = true;
		const tale = await this.#shared.since(this.#stream, this.#place);
		this.#isLooking = false;
		if (!tale) return;
		this.tell(tale);
		if (!tale.isOver && tale.events.length === 0 && (await this.#shared.isAbandoned(tale)))
			this.#abandon(tale);
	}

	/** Who would have answered is gone. */
	#abandon({about}: Tale): void {
		this.#carrier.send({data: Envelope.failure(about, gone).bytes});
		this.#end();
	}

	#end(): void {
		this.#stop();
		this.#carrier.end();
	}
}

const messageOf = (stream: number, {place, data}: Tale['events'][number]): SseMessage => ({
	id: eventId(stream, place),
	data,
});

const gone = new BridgeError(
	'ERR_UPSTREAM_UNREACHABLE',
	'The replica of bridge that waited for this answer is gone; nobody knows how much of this was done.',
	'Ask again if it may be done twice.',
);
