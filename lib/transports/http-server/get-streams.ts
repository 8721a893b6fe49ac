import type {ServerResponse} from 'node:http';
import {bridgeOrigin} from '../../core/envelope.js';
import {sendHttpError} from '../../http/http-error.js';
import {acceptsPrimingEvent} from '../../protocol/http-headers.js';
import type {SseStream} from '../sse/sse-stream.js';
import type {HttpSessionOptions} from './http-session-options.js';
import {ResumableStream, type ResumableStreamOptions} from './resumable-stream.js';

const MAX_STREAMS = 16;

/** The GET streams of a session, for server-initiated messages. */
export class GetStreams {
	readonly #options: Pick<HttpSessionOptions, 'onListening' | 'version'>;
	readonly #streams = new Map<number, ResumableStream>();
	#isOver = false;

	constructor(options: Pick<HttpSessionOptions, 'onListening' | 'version'>) {
		this.#options = options;
	}

	get connected(): ResumableStream | undefined {
		return [...this.#streams.values()].find(stream => stream.isConnected);
	}

	find(number: number): ResumableStream | undefined {
		return this.#streams.get(number);
	}

	/**
	 * Begins a stream with the missed messages of another one. They get new event ids, so that the client can
	 * resume from this stream alone. Responds with 409 and returns undefined if there are too many streams.
	 */
	begin(
		response: ServerResponse,
		options: ResumableStreamOptions,
		missed: readonly Buffer[],
	): ResumableStream | undefined {
		if ([...this.#streams.values()].filter(stream => stream.isConnected).length >= MAX_STREAMS) {
			sendHttpError(response, {
				status: 409,
				message: `Conflict: the session already has ${MAX_STREAMS} open streams`,
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

	/** Tracks a connection of a stream until it closes, and reports both to `onListening`. */
	watch(connection: SseStream, stream: ResumableStream): void {
		if (!this.#streams.has(stream.number)) return;
		this.#options.onListening?.(true);
		// A client that resumes at another replica has abandoned this connection, which may not be closed yet.
		const stop = stream.whenMoved(() => connection.end());
		void connection.closed.then(() => {
			stop?.();
			this.#trim();
			if (!this.#isOver && !this.connected) this.#options.onListening?.(false);
		});
	}

	/** Drops the oldest disconnected streams over the limit. The others remain resumable. */
	#trim(): void {
		for (const [number, stream] of this.#streams)
			if (this.#streams.size > MAX_STREAMS && !stream.isConnected) this.#streams.delete(number);
	}

	/** Closes all connections, so that the client reconnects, at another replica if this one drains. */
	endWithRetry(): void {
		for (const stream of this.#streams.values()) stream.endWithRetry();
	}

	end(): void {
		this.#isOver = true;
		for (const stream of this.#streams.values()) stream.end();
	}
}
