import type {ServerResponse} from 'node:http';
import {bridgeOrigin} from '../../core/envelope.js';
import {sendHttpError} from '../../http/http-error.js';
import {acceptsPrimingEvent} from '../../protocol/http-headers.js';
import type {SseStream} from '../sse/sse-stream.js';
import type {HttpSessionOptions} from './http-session-options.js';
import {ResumableStream, type ResumableStreamOptions} from './resumable-stream.js';

/** Streams of a session that may be open at a time, beside those that answer something. */
const MAX_STREAMS = 16;

/** The streams on which a client hears what is said to it of the server's accord. */
export class GetStreams {
	readonly #options: Pick<HttpSessionOptions, 'onListening' | 'version'>;
	readonly #streams = new Map<number, ResumableStream>();
	#isOver = false;

	constructor(options: Pick<HttpSessionOptions, 'onListening' | 'version'>) {
		this.#options = options;
	}

	/** One that somebody hears. */
	get connected(): ResumableStream | undefined {
		return [...this.#streams.values()].find(stream => stream.isConnected);
	}

	find(number: number): ResumableStream | undefined {
		return this.#streams.get(number);
	}

	/**
	 * Begins a stream, with what the client missed of another one. It is said anew, so that who loses this one, too, has one
	 * place to come back to. Returns nothing if there are too many.
	 */
	begin(
		response: ServerResponse,
		options: ResumableStreamOptions,
		missed: readonly Buffer[],
	): ResumableStream | undefined {
		if ([...this.#streams.values()].filter(stream => stream.isConnected).length >= MAX_STREAMS) {
			sendHttpError(response, {
				status: 409,
				message: `Conflict: the session has ${MAX_STREAMS} streams already`,
			});
			return;
		}
		const stream = new ResumableStream(options);
		this.#streams.set(stream.number, stream);
		const connection = stream.connect(response, {}, acceptsPrimingEvent(this.#options.version()));
		for (const bytes of missed) stream.send({bytes, origin: bridgeOrigin});
		this.watch(connection, stream);
		return stream;
	}

	/** A connection carries a stream from now on. That it does so no more is noticed. */
	watch(connection: SseStream, stream: ResumableStream): void {
		if (!this.#streams.has(stream.number)) return;
		this.#options.onListening?.(true);
		// A client that listens at another replica has given this connection up, whether that has noticed or not.
		const stop = stream.whenMoved(() => connection.end());
		void connection.closed.then(() => {
			stop?.();
			this.#trim();
			if (!this.#isOver && !this.connected) this.#options.onListening?.(false);
		});
	}

	/** Streams that nobody carries are kept for the client to come back to, the oldest not for ever. */
	#trim(): void {
		for (const [number, stream] of this.#streams)
			if (this.#streams.size > MAX_STREAMS && !stream.isConnected) this.#streams.delete(number);
	}

	/** The client is to listen elsewhere from now on. */
	endWithRetry(): void {
		for (const stream of this.#streams.values()) stream.endWithRetry();
	}

	end(): void {
		this.#isOver = true;
		for (const stream of this.#streams.values()) stream.end();
	}
}
