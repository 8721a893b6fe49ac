import type {ServerResponse} from 'node:http';
import {local} from '../envelope.js';
import {refuse} from '../http/refuse.js';
import {takesPriming} from '../protocol/http-hop.js';
import {EventStream, type EventStreamOptions} from './event-stream.js';
import type {HttpSessionOptions} from './http-session-options.js';
import type {SseStream} from './sse-stream.js';

/** Streams of a session that may be open at a time, beside those that answer something. */
const MAX_STREAMS = 16;

/** The streams on which a client hears what is said to it of the server's accord. */
export class Listeners {
	readonly #options: Pick<HttpSessionOptions, 'onListening' | 'version'>;
	readonly #streams = new Map<number, EventStream>();
	#isOver = false;

	constructor(options: Pick<HttpSessionOptions, 'onListening' | 'version'>) {
		this.#options = options;
	}

	/** One that somebody hears. */
	get open(): EventStream | undefined {
		return [...this.#streams.values()].find(stream => stream.isCarried);
	}

	find(number: number): EventStream | undefined {
		return this.#streams.get(number);
	}

	/**
	 * Begins a stream, with what the client missed of another one. It is said anew, so that who loses this one, too, has one
	 * place to come back to. Returns nothing if there are too many.
	 */
	begin(
		response: ServerResponse,
		options: EventStreamOptions,
		missed: readonly Buffer[],
	): EventStream | undefined {
		if ([...this.#streams.values()].filter(stream => stream.isCarried).length >= MAX_STREAMS) {
			refuse(response, {status: 409, message: `Conflict: the session has ${MAX_STREAMS} streams already`});
			return;
		}
		const stream = new EventStream(options);
		this.#streams.set(stream.number, stream);
		const carrier = stream.carryOn(response, {}, takesPriming(this.#options.version()));
		for (const bytes of missed) stream.send({bytes, origin: local});
		this.watch(carrier, stream);
		return stream;
	}

	/** A connection carries a stream from now on. That it does so no more is noticed. */
	watch(carrier: SseStream, stream: EventStream): void {
		if (!this.#streams.has(stream.number)) return;
		this.#options.onListening?.(true);
		// A client that listens at another replica has given this connection up, whether that has noticed or not.
		const stop = stream.whenMoved(() => carrier.end());
		void carrier.closed.then(() => {
			stop?.();
			this.#trim();
			if (!this.#isOver && !this.open) this.#options.onListening?.(false);
		});
	}

	/** Streams that nobody carries are kept for the client to come back to, the oldest not for ever. */
	#trim(): void {
		for (const [number, stream] of this.#streams)
			if (this.#streams.size > MAX_STREAMS && !stream.isCarried) this.#streams.delete(number);
	}

	/** The client is to listen elsewhere from now on. */
	sendAway(): void {
		for (const stream of this.#streams.values()) stream.sendAway();
	}

	end(): void {
		this.#isOver = true;
		for (const stream of this.#streams.values()) stream.end();
	}
}
