import type {IncomingHttpHeaders} from 'node:http';
import type {Envelope, Headers, MessageOrigin} from '../../core/envelope.js';
import type {Log} from '../../core/log.js';
import {Valve} from '../../core/valve.js';
import {EventReader} from './event-reader.js';
import {type AbortRequest, type BodyHandler, headerValue, sendHttpRequest} from './http-request.js';

type ListeningStreamOptions = {
	readonly name: string;
	readonly url: URL;
	readonly log: Log;
	readonly maxBytes: number;
	/** Returns the headers of the next request. The session id may change between requests. */
	readonly headers: () => Headers;
	readonly onResponse: (received: IncomingHttpHeaders, sent: Headers) => void;
	/** The id of the last event that was received on an earlier stream. */
	readonly lastEventId?: string | undefined;
	readonly onMessage: (envelope: Envelope) => void;
};

const MAX_WAIT_MS = 30_000;
/**
 * Error statuses that may be temporary: credentials that are not valid yet or expired, rate limits, and
 * conflicts with a stream that another replica is closing.
 */
const retryableStatuses: readonly number[] = [401, 403, 408, 409, 425, 429];
/** The minimum delay between connections, for an upstream that ends each stream immediately. */
const MIN_WAIT_MS = 250;

/** The GET stream for server-initiated messages. It reconnects whenever it ends. Support is optional. */
export class ListeningStream {
	readonly #options: ListeningStreamOptions;
	readonly #origin: MessageOrigin;
	#abort: AbortRequest = () => {};
	#timer: NodeJS.Timeout | undefined;
	#reader: EventReader | undefined;
	#isOver = false;
	#lastEventId: string | undefined;
	#failures = 0;
	#isWarned = false;

	constructor(options: ListeningStreamOptions) {
		this.#options = options;
		this.#origin = {name: options.name, valve: new Valve()};
		this.#lastEventId = options.lastEventId;
	}

	/** The id to resume from; undefined if the stream cannot be resumed. */
	get lastEventId(): string | undefined {
		return this.#reader?.lastEventId ?? this.#lastEventId;
	}

	/** Whether the stream is connected or will reconnect. */
	get isOpen(): boolean {
		return !this.#isOver;
	}

	open(): void {
		if (this.#isOver) return;
		const {url, onResponse} = this.#options;
		const headers = this.#options.headers();
		this.#reader = undefined;
		this.#abort = sendHttpRequest({
			method: 'GET',
			url,
			headers: {
				...headers,
				accept: 'text/event-stream',
				...(this.#lastEventId === undefined ? {} : {'last-event-id': this.#lastEventId}),
			},
			onResponse: (status, responseHeaders) => {
				onResponse(responseHeaders, headers);
				return this.#onResponse(status, headerValue(responseHeaders, 'content-type') ?? '');
			},
			onError: () => this.#reconnect(this.#reader),
		});
	}

	stop(): void {
		this.#isOver = true;
		clearTimeout(this.#timer);
		this.#abort();
	}

	#onResponse(status: number, type: string): BodyHandler {
		const {name, log, maxBytes, onMessage} = this.#options;
		if (status >= 500 || retryableStatuses.includes(status)) {
			this.#retryRejected(status);
			return ignoreBody;
		}
		if (status >= 300 || !type.startsWith('text/event-stream')) {
			// The stream is optional. If the session was lost instead, the next request detects that.
			log.debug('http.no_stream', `${name} does not support a GET stream for server-initiated messages.`, {
				server: name,
				status,
			});
			this.#isOver = true;
			this.#abort();
			return ignoreBody;
		}
		this.#failures = 0;
		this.#isWarned = false;
		const reader: EventReader = new EventReader({
			origin: this.#origin,
			maxBytes,
			onMessage,
			onEnd: () => this.#reconnect(reader),
		});
		this.#reader = reader;
		return reader;
	}

	/** Retries a rejected stream with exponential backoff. Logs only the first rejection. */
	#retryRejected(status: number): void {
		const {name, log} = this.#options;
		if (!this.#isWarned)
			log.warn(
				'http.stream_refused',
				`${name} rejected the GET stream for server-initiated messages with status ${status}; retrying.`,
				{
					server: name,
					status,
				},
			);
		this.#isWarned = true;
		this.#reconnect(undefined);
	}

	#reconnect(reader: EventReader | undefined): void {
		if (this.#isOver) return;
		this.#lastEventId = reader?.lastEventId ?? this.#lastEventId;
		const backoffMs = Math.min(MAX_WAIT_MS, 1000 * 2 ** this.#failures++);
		clearTimeout(this.#timer);
		const waitMs = reader ? Math.max(MIN_WAIT_MS, reader.retryMs) : backoffMs;
		this.#timer = setTimeout(() => this.open(), waitMs).unref();
	}
}

const ignoreBody: BodyHandler = {onData: () => {}, onEnd: () => {}};
