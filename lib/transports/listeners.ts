import type {ServerResponse} from 'node:http';
import {refuse} from '../http/refuse.js';
import {takesPriming} from '../protocol/http-hop.js';
import type {SseMessage} from '../wire/sse.js';
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

	/** Begins a stream, with what the client missed of another one. Returns nothing if there are too many. */
	begin(
		response: ServerResponse,
		options: EventStreamOptions,
		missed: readonly SseMessage[],
	): EventStream | undefined {
		if ([...this.#streams.values()].filter(stream => stream.isCarried).length >= MAX_STREAMS) {
			refuse(response, {status: 409, message: `Conflict: the session has ${MAX_STREAMS} streams already`});
			return;
		}
		const stream = new EventStream(options);
		this.#streams.set(stream.number, stream);
		const isPrimed = missed.length === 0 && takesPriming(this.#options.version());
		const carrier = stream.carryOn(response, {}, isPrimed);
		for (const message of missed) carrier.send(message);
		this.watch(carrier, stream);
		return stream;
	}

	/** A connection carries a stream from now on. That it does so no more is noticed. */
	watch({closed}: SseStream, {number}: EventStream): void {
		if (!this.#streams.has(number)) return;
		this.#options.onListening?.(true);
		void closed.then(() => {
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
