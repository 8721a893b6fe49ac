import type {ServerResponse} from 'node:http';
import type {Envelope, Headers} from '../../core/envelope.js';
import {SseStream} from '../sse/sse-stream.js';
import {type EventBuffer, formatEventId} from './event-buffer.js';
import type {ReplicatedStream, ReplicatedStreams, StreamPurpose} from './replicated-streams.js';

export type ResumableStreamOptions = {
	readonly number: number;
	/** What was sent is kept there for a client that comes back; without it, a client that is gone has missed it. */
	readonly buffer: EventBuffer | undefined;
	/** Where it is kept for other replicas, too. */
	readonly shared?: ReplicatedStreams | undefined;
	/** The id of the request that it answers, as text; none for what a server says of its own accord. */
	readonly requestId?: string | undefined;
	/** The server's own stream that it comes from, for other replicas to go on with. */
	readonly upstream?: StreamPurpose['upstream'];
	readonly keepAliveMs?: number | undefined;
	readonly onSlow: (unreadBytes: number) => void;
};

/** After how long a client that lost its stream is to come back for the rest of it. */
const RETRY_MS = 1000;
const EMPTY = Buffer.alloc(0);

/** A stream of events to a client, which outlives the connection that carries it. */
export class ResumableStream {
	readonly number: number;
	readonly #options: ResumableStreamOptions;
	#connection: SseStream | undefined;
	#shared: ReplicatedStream | undefined;
	#lastEvent = 0;
	isEnded = false;

	constructor(options: ResumableStreamOptions) {
		this.number = options.number;
		this.#options = options;
	}

	get isConnected(): boolean {
		return this.#connection?.isOpen ?? false;
	}

	/** Goes on over this response. `isPrimed` tells that the client is to know at once where to take the stream up again. */
	connect(response: ServerResponse, headers: Headers, isPrimed: boolean): SseStream {
		const {keepAliveMs, onSlow, shared, requestId, upstream} = this.#options;
		this.#shared ??= shared?.begin(this.number, {about: requestId, upstream});
		const connection = new SseStream(response, {
			headers,
			onSlow,
			...(keepAliveMs === undefined ? {} : {keepAliveMs}),
		});
		// A client that comes back has given up the connection that it came with before, whether that has noticed or not.
		this.#connection?.end();
		this.#connection = connection;
		if (isPrimed)
			connection.send({id: formatEventId(this.number, this.#lastEvent), retryMs: RETRY_MS, data: EMPTY});
		return connection;
	}

	send(envelope: Pick<Envelope, 'bytes' | 'origin'> & Partial<Pick<Envelope, 'head'>>): void {
		const {bytes: data, origin, head} = envelope;
		const {buffer} = this.#options;
		const {number} = this;
		const eventNumber = ++this.#lastEvent;
		buffer?.add(
			number,
			eventNumber,
			data,
			head && head.method === undefined ? (head.id ?? 'null') : undefined,
		);
		this.#shared?.add(eventNumber, data);
		this.#connection?.send(buffer ? {id: formatEventId(number, eventNumber), data} : {data}, origin.valve);
	}

	/** Has this done when the client has come for it at another replica, until what it returns is called. */
	whenMoved(proceed: () => void): (() => void) | undefined {
		return this.#shared?.onMoved(proceed);
	}

	/** Sends again what the client has missed since it was at this place. Returns whether all of it was there still. */
	replay(lastEvent: number): boolean {
		const {events, isWhole} = this.#options.buffer?.eventsAfter(this.number, lastEvent) ?? {
			events: [],
			isWhole: false,
		};
		for (const {sequence: eventNumber, data} of events)
			this.#connection?.send({id: formatEventId(this.number, eventNumber), data});
		return isWhole;
	}

	end(): void {
		if (!this.isEnded) this.#shared?.end(this.#lastEvent);
		this.isEnded = true;
		this.#connection?.end();
	}

	/** Ends the connection that carries it, and has the client come back soon. */
	endWithRetry(): void {
		this.#connection?.end(RETRY_MS);
	}

	/** Cuts the client off, which may come back. */
	disconnect(): void {
		this.#connection?.destroy();
	}
}
