import type {ServerResponse} from 'node:http';
import {performance} from 'node:perf_hooks';
import type {Envelope, Headers} from '../../core/envelope.js';
import {trackUnreadResponse} from '../../http/unread-responses.js';
import {isOptimized} from '../../util/optimizations.js';
import {marks} from '../../wire/marks.js';
import {progressTokenKey} from '../../wire/progress-token-key.js';
import {ResumableStream, type ResumableStreamOptions} from './resumable-stream.js';
import {sessionClosedResponse} from './unfinished-responses.js';

type HttpReplyOptions = ResumableStreamOptions & {
	readonly response: ServerResponse;
	readonly accepts: {readonly json: boolean; readonly events: boolean};
	readonly request: Envelope;
	/**
	 * Returns the headers of the HTTP response. `message` is the JSON-RPC response; undefined for an event
	 * stream.
	 */
	readonly headers: (request: Envelope, message: Envelope | undefined) => Headers;
	/** Whether the client accepts an event with an id and without data. */
	readonly acceptsPriming: () => boolean;
	/** The HTTP status of a response that bridge created. */
	readonly statusOf: (message: Envelope) => number;
};

/** A response of this size or more applies backpressure to its origin until the client has read it. */
const BACKPRESSURE_BYTES = 2 ** 20;
/** The limit of a body that is written together with the headers. */
const MAX_TEXT_BYTES = 2 ** 13;

/**
 * The HTTP response to a POST: JSON if it consists of the JSON-RPC response alone, otherwise an event stream.
 * The stream starts with the first message that precedes the response.
 */
export class HttpReply {
	readonly request: Envelope;
	/** The key of the progress token. Parsed once, since there may be thousands of progress notifications. */
	readonly tokenKey: string | undefined;
	readonly #options: HttpReplyOptions;
	/** Created on demand, since most replies are JSON. */
	#stream: ResumableStream | undefined;
	/** The time of the request, by the monotonic clock. */
	readonly startedAt = performance.now();
	isStarted = false;

	constructor(options: HttpReplyOptions) {
		this.#options = options;
		this.request = options.request;
		const hasToken = (this.request.head.marks & marks.progressToken) !== 0;
		this.tokenKey = hasToken ? progressTokenKey(this.request.bytes, 'params', '_meta') : undefined;
	}

	get stream(): ResumableStream {
		this.#stream ??= new ResumableStream(this.#options);
		return this.#stream;
	}

	/** Whether messages can precede the response. A stream that starts after a disconnect cannot be resumed. */
	get canStream(): boolean {
		const {accepts, response} = this.#options;
		return accepts.events && (this.isStarted || !response.destroyed);
	}

	/** Starts the event stream. To a waiting client, this shows that the connection is alive. */
	start(): void {
		const {response, headers, acceptsPriming} = this.#options;
		if (this.isStarted) return;
		this.isStarted = true;
		if (!response.destroyed)
			this.stream.connect(response, headers(this.request, undefined), acceptsPriming());
	}

	send(envelope: Envelope): void {
		this.start();
		this.stream.send(envelope);
	}

	/** Sends the JSON-RPC response and ends the HTTP response. */
	complete(envelope: Envelope): void {
		const {accepts, statusOf, response, headers} = this.#options;
		const isHttpError = envelope.origin.errorReply !== undefined;
		const status = this.isStarted || isHttpError ? 200 : statusOf(envelope);
		if (!this.isStarted && (accepts.json || isHttpError || status >= 400)) {
			this.isStarted = true;
			if (!response.destroyed) writeResponse(response, envelope, status, headers(this.request, envelope));
			return;
		}
		this.send(envelope);
		this.stream.end();
	}

	rejectSessionClosed(): void {
		this.complete(sessionClosedResponse(this.request));
	}
}

/** Responds with one message, or with the HTTP error of the upstream. */
function writeResponse(response: ServerResponse, envelope: Envelope, status: number, headers: Headers): void {
	const {errorReply, valve} = envelope.origin;
	// A JSON-RPC message in the error is sent in its translated form, with the id that the client uses.
	const isMessage = errorReply === undefined || errorReply.body.includes('"jsonrpc"');
	const length = isMessage ? envelope.size : errorReply.body.length;
	const common = errorReply ? errorReply.headers : {'content-type': 'application/json'};
	response.writeHead(errorReply?.status ?? status, {...headers, ...common, 'content-length': length});
	endWith(response, isMessage ? envelope.bytesInParts : [errorReply.body]);
	trackUnreadResponse(response);
	if (length < BACKPRESSURE_BYTES || response.destroyed || response.writableFinished) return;
	const release = valve.shut();
	response.once('close', release);
}

function endWith(response: ServerResponse, parts: readonly Buffer[]): void {
	const [first] = parts;
	if (first && parts.length === 1) {
		// Node writes a string together with the headers, which saves a system call. latin1 keeps the bytes.
		if (first.length <= MAX_TEXT_BYTES && isOptimized('string-reply'))
			response.end(first.toString('latin1'), 'latin1');
		else response.end(first);
		return;
	}
	response.cork();
	for (const part of parts) response.write(part);
	response.end();
	response.uncork();
}
