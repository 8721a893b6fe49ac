import type {ServerResponse} from 'node:http';
import type {Envelope, Headers} from '../../core/envelope.js';
import {SseStream} from '../sse/sse-stream.js';
import {type EventBuffer, formatEventId} from './event-buffer.js';
import type {ReplicatedStream, ReplicatedStreams, StreamPurpose} from './replicated-streams.js';

export type ResumableStreamOptions = {
	readonly number: number;
	/** The buffer for resumption. Without it, events have no ids and the stream cannot be resumed. */
	readonly buffer: EventBuffer | undefined;
	/** The event store for resumption at other replicas. */
	readonly shared?: ReplicatedStreams | undefined;
	/** The id of the request that the stream responds to, as text; undefined for a GET stream. */
	readonly requestId?: string | undefined;
	/** The position in the upstream's GET stream, from which another replica can resume it. */
	readonly upstream?: StreamPurpose['upstream'];
	readonly keepAliveMs?: number | undefined;
	readonly onSlow: (unreadBytes: number) => void;
};

const RETRY_MS = 1000;
const EMPTY = Buffer.alloc(0);

/** An event stream to a client. It outlives its connections. */
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

	/** Continues the stream on this response. With `isPrimed`, first sends an id to resume from. */
	connect(response: ServerResponse, headers: Headers, isPrimed: boolean): SseStream {
		const {keepAliveMs, onSlow, shared, requestId, upstream} = this.#options;
		this.#shared ??= shared?.begin(this.number, {about: requestId, upstream});
		const connection = new SseStream(response, {
			headers,
			onSlow,
			...(keepAliveMs === undefined ? {} : {keepAliveMs}),
		});
		// A client that resumes has abandoned its previous connection, which may not be closed yet.
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
		const sequence = ++this.#lastEvent;
		buffer?.add(number, sequence, data, head && head.method === undefined ? (head.id ?? 'null') : undefined);
		this.#shared?.add(sequence, data);
		this.#connection?.send(buffer ? {id: formatEventId(number, sequence), data} : {data}, origin.valve);
	}

	/** Calls back when the client resumes the stream at another replica. Returns an unsubscribe function. */
	whenMoved(callback: () => void): (() => void) | undefined {
		return this.#shared?.onMoved(callback);
	}

	/** Resends the events after `lastEvent`. Returns whether none was missing. */
	replay(lastEvent: number): boolean {
		const {events, isWhole} = this.#options.buffer?.eventsAfter(this.number, lastEvent) ?? {
			events: [],
			isWhole: false,
		};
		for (const {sequence, data} of events)
			this.#connection?.send({id: formatEventId(this.number, sequence), data});
		return isWhole;
	}

	end(): void {
		if (!this.isEnded) this.#shared?.end(this.#lastEvent);
		this.isEnded = true;
		this.#connection?.end();
	}

	/** Ends the connection with a `retry` field, so that the client reconnects. */
	endWithRetry(): void {
		this.#connection?.end(RETRY_MS);
	}

	/** Closes the connection abruptly. The client can resume the stream. */
	disconnect(): void {
		this.#connection?.destroy();
	}
}
