import type {ServerResponse} from 'node:http';
import {Envelope} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {eventId, type Place} from '../http/event-buffer.js';
import type {SharedEvents, Tale} from '../replicas/shared-events.js';
import type {SseMessage} from '../wire/sse.js';
import {SseStream} from './sse-stream.js';
import {lostEvents, type Noted, slowClient} from './stream-notes.js';

/** More than a replica needs to find a store that was away, and to tell it what it waits for. */
const MAX_MISSES = 10;

export type TakeUpOptions = Noted & {
	readonly shared: SharedEvents;
	/** Where it is noted what was heard of the server's own stream. */
	readonly upstream?: {heard: string | undefined} | undefined;
	readonly keepAliveMs?: number | undefined;
};

type Answer = Place & {readonly about: string};

/**
 * Goes on with a stream that another replica began, for a client that has come here for the rest of it.
 *
 * An answer is told to its end, as it comes there: `taken`. Of what a server says of its own accord, all that was missed is
 * returned, to be said on a stream that begins here: it goes on wherever the client listens. Nothing is returned if nothing
 * is known of the stream.
 */
export async function takeUp(
	response: ServerResponse,
	{stream, place}: Place,
	options: TakeUpOptions,
): Promise<readonly Buffer[] | 'taken' | undefined> {
	const tale = await options.shared.since(stream, place);
	if (response.destroyed) return 'taken';
	if (!tale?.told) return;
	if (!tale.isWhole) lostEvents(options, stream);
	const {about, upstream} = tale.told;
	if (about === undefined) {
		options.shared.moved(stream);
		if (options.upstream && upstream) options.upstream.heard = upstream.heard;
		return tale.events.map(({data}) => data);
	}
	new Continuation(response, {stream, place, about}, options).tell(tale);
	return 'taken';
}

/** An answer that another replica gives, on its way to a client that asks for it here. */
class Continuation {
	readonly #stream: number;
	readonly #about: string;
	readonly #shared: SharedEvents;
	readonly #carrier: SseStream;
	readonly #stop: () => void;
	#place: number;
	#isLooking = false;
	/** Looks in a row at which nobody was known to wait for the answer. */
	#misses = 0;

	constructor(response: ServerResponse, {stream, place, about}: Answer, options: TakeUpOptions) {
		const {shared, keepAliveMs} = options;
		this.#stream = stream;
		this.#place = place;
		this.#about = about;
		this.#shared = shared;
		this.#carrier = new SseStream(response, {
			onSlow: slowClient(options),
			...(keepAliveMs === undefined ? {} : {keepAliveMs}),
		});
		this.#stop = shared.watch(stream, () => void this.#look());
		void this.#carrier.closed.then(this.#stop);
	}

	tell({events, end}: Tale): void {
		for (const event of events) {
			if (event.place <= this.#place) continue;
			this.#place = event.place;
			this.#carrier.send(messageOf(this.#stream, event));
		}
		if (end === undefined) return;
		// The answer, which is the last event, was too long to be kept, or came while the store was away.
		if (this.#place < end) this.#abandon();
		else this.#end();
	}

	async #look(): Promise<void> {
		if (this.#isLooking) return;
		this.#isLooking = true;
		const tale = await this.#shared.since(this.#stream, this.#place);
		if (tale && this.#carrier.isOpen) {
			this.tell(tale);
			if (this.#carrier.isOpen && (await this.#isLost(tale))) this.#abandon();
		}
		this.#isLooking = false;
	}

	/** Whether there will be no answer: who would have answered is gone, or has done so when nobody could be told. */
	async #isLost({told, events, isAwaited}: Tale): Promise<boolean> {
		this.#misses = isAwaited ? 0 : this.#misses + 1;
		if (this.#misses >= MAX_MISSES) return true;
		return told !== undefined && events.length === 0 && this.#shared.isAbandoned(told);
	}

	#abandon(): void {
		this.#carrier.send({data: Envelope.failure(this.#about, gone).bytes});
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
	'The replica of bridge that waited for this answer is gone, or could not hand it on; nobody knows how much of this was done.',
	'Ask again if it may be done twice.',
);
