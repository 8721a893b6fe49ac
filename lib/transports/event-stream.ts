import type {ServerResponse} from 'node:http';
import type {Envelope, Headers} from '../envelope.js';
import {type EventBuffer, eventId} from '../http/event-buffer.js';
import type {SharedEvents} from '../replicas/shared-events.js';
import type {Kind, SharedStream} from '../replicas/shared-stream.js';
import {SseStream} from './sse-stream.js';

export type EventStreamOptions = {
	readonly number: number;
	/** What was sent is kept there for a client that comes back; without it, a client that is gone has missed it. */
	readonly buffer: EventBuffer | undefined;
	/** Where it is kept for other replicas, too. */
	readonly shared?: SharedEvents | undefined;
	/** The id of the request that it answers, as text; none for what a server says of its own accord. */
	readonly about?: string | undefined;
	/** The server's own stream that it comes from, for other replicas to go on with. */
	readonly upstream?: Kind['upstream'];
	readonly keepAliveMs?: number | undefined;
	readonly onSlow: (unreadBytes: number) => void;
};

/** After how long a client that lost its stream is to come back for the rest of it. */
const RETRY_MS = 1000;
const EMPTY = Buffer.alloc(0);

/** A stream of events to a client, which outlives the connection that carries it. */
export class EventStream {
	readonly number: number;
	readonly #options: EventStreamOptions;
	#carrier: SseStream | undefined;
	#shared: SharedStream | undefined;
	#place = 0;
	isOver = false;

	constructor(options: EventStreamOptions) {
		this.number = options.number;
		this.#options = options;
	}

	get isCarried(): boolean {
		return this.#carrier?.isOpen ?? false;
	}

	/** Goes on over this response. `isPrimed` tells that the client is to know at once where to take the stream up again. */
	carryOn(response: ServerResponse, headers: Headers, isPrimed: boolean): SseStream {
		const {keepAliveMs, onSlow, shared, about, upstream} = this.#options;
		this.#shared ??= shared?.begin(this.number, {about, upstream});
		const carrier = new SseStream(response, {
			headers,
			onSlow,
			...(keepAliveMs === undefined ? {} : {keepAliveMs}),
		});
		// A client that comes back has given up the connection that it came with before, whether that has noticed or not.
		this.#carrier?.end();
		this.#carrier = carrier;
		if (isPrimed) carrier.send({id: eventId(this.number, this.#place), retryMs: RETRY_MS, data: EMPTY});
		return carrier;
	}

	send(envelope: Pick<Envelope, 'bytes' | 'origin'> & Partial<Pick<Envelope, 'head'>>): void {
		const {bytes: data, origin, head} = envelope;
		const {buffer} = this.#options;
		const {number} = this;
		const place = ++this.#place;
		buffer?.add(number, place, data, head && head.method === undefined ? (head.id ?? 'null') : undefined);
		this.#shared?.add(place, data);
		this.#carrier?.send(buffer ? {id: eventId(number, place), data} : {data}, origin.valve);
	}

	/** Has this done when the client has come for it at another replica, until what it returns is called. */
	whenMoved(proceed: () => void): (() => void) | undefined {
		return this.#shared?.whenMoved(proceed);
	}

	/** Sends again what the client has missed since it was at this place. Returns whether all of it was there still. */
	replay(place: number): boolean {
		const {events, isWhole} = this.#options.buffer?.since(this.number, place) ?? {events: [], isWhole: false};
		for (const {place: at, data} of events) this.#carrier?.send({id: eventId(this.number, at), data});
		return isWhole;
	}

	end(): void {
		if (!this.isOver) this.#shared?.end(this.#place);
		this.isOver = true;
		this.#carrier?.end();
	}

	/** Ends the connection that carries it, and has the client come back soon. */
	sendAway(): void {
		this.#carrier?.end(RETRY_MS);
	}

	/** Cuts the client off, which may come back. */
	drop(): void {
		this.#carrier?.destroy();
	}
}
