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
	/** The headers of the next request: the session may have another id by then. */
	readonly headers: () => Headers;
	/** A response began. */
	readonly onResponse: (received: IncomingHttpHeaders, sent: Headers) => void;
	/** The last event that was heard before, if it is known. */
	readonly lastEventId?: string | undefined;
	readonly onMessage: (envelope: Envelope) => void;
};

const MAX_WAIT_MS = 30_000;
/**
 * Refusals that need not stay: of credentials, which may be in force soon or again, of who comes too often, and of a second
 * stream, while another replica lets go of the first.
 */
const retryableStatuses: readonly number[] = [401, 403, 408, 409, 425, 429];
/** A stream that a server ends at once, whenever it is opened, is not opened any more often than that. */
const MIN_WAIT_MS = 250;

/** What a server says of its own accord, on a stream that is opened again whenever it ends. Not every server has one. */
export class ListeningStream {
	readonly #options: ListeningStreamOptions;
	readonly #origin: MessageOrigin;
	#abort: AbortRequest = () => {};
	#timer: NodeJS.Timeout | undefined;
	/** What reads the stream that is open. */
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

	/** Where it can be taken up again, if it can be at all. */
	get lastEventId(): string | undefined {
		return this.#reader?.lastEventId ?? this.#lastEventId;
	}

	/** Whether it is there, or may be again. */
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
			// It has none, which is its right; or it has lost the session, which the next request will find out.
			log.debug('http.no_stream', `${name} has no stream for what it says of its own accord.`, {
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

	/** Who is refused now may be let in later. It is told once, and tried ever more seldom. */
	#retryRejected(status: number): void {
		const {name, log} = this.#options;
		if (!this.#isWarned)
			log.warn(
				'http.stream_refused',
				`${name} refuses the stream of what it says itself; it is tried again.`,
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
