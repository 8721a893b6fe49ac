import type {ServerResponse} from 'node:http';
import {performance} from 'node:perf_hooks';
import type {Envelope, Headers} from '../../core/envelope.js';
import {trackUnreadResponse} from '../../http/unread-responses.js';
import {marks} from '../../wire/marks.js';
import {progressTokenKey} from '../../wire/progress-token-key.js';
import {ResumableStream, type ResumableStreamOptions} from './resumable-stream.js';
import {sessionClosedResponse} from './unfinished-responses.js';

type HttpReplyOptions = ResumableStreamOptions & {
	readonly response: ServerResponse;
	readonly accepts: {readonly json: boolean; readonly events: boolean};
	/** The message that came with the POST. */
	readonly request: Envelope;
	/** The headers for an answer to this message: whether it is an error may tell which. */
	readonly headers: (request: Envelope, message: Envelope | undefined) => Headers;
	/** Whether the client takes an event that only says where it is. */
	readonly takesPriming: () => boolean;
	/** The status for an answer that bridge made itself. */
	readonly statusOf: (message: Envelope) => number;
};

/** So much may wait for a client that does not read its answer before whoever made it has to wait, too. */
const BACKPRESSURE_BYTES = 2 ** 20;
/** What is written together with the head of a response. */
const MAX_TEXT_BYTES = 2 ** 13;

/**
 * What a POST is answered with: the answer alone, as JSON, if that is all there is to say, and else a stream of events,
 * which begins with the first thing that is said before the answer.
 */
export class HttpReply {
	readonly request: Envelope;
	/** The key of the progress token of the request: looked for once, since progress may come by the thousand. */
	readonly tokenKey: string | undefined;
	readonly #options: HttpReplyOptions;
	/** Most answers need none. */
	#stream: ResumableStream | undefined;
	/** When it was asked for, by the clock that only runs forward. */
	readonly startedAt = performance.now();
	/** Whether the head of the response is written. */
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

	/** Whether something can be said before the answer: not to who left before there was a stream to come back to. */
	get canStream(): boolean {
		const {accepts, response} = this.#options;
		return accepts.events && (this.isStarted || !response.destroyed);
	}

	/** Starts the stream, which is what tells a client that waits long that somebody is there. */
	start(): void {
		const {response, headers, takesPriming} = this.#options;
		if (this.isStarted) return;
		this.isStarted = true;
		if (!response.destroyed) this.stream.connect(response, headers(this.request, undefined), takesPriming());
	}

	send(envelope: Envelope): void {
		this.start();
		this.stream.send(envelope);
	}

	/** The last that is to be said. */
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

	/** The session is over, and with it the hope for an answer. */
	rejectSessionClosed(): void {
		this.complete(sessionClosedResponse(this.request));
	}
}

/** Answers with one message, or as the server did that refused the request over HTTP. */
function writeResponse(response: ServerResponse, envelope: Envelope, status: number, headers: Headers): void {
	const {errorReply, valve} = envelope.origin;
	// A message in it goes to the client as any other: under its own id, and in words that it understands.
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

/** Ends a response with these parts, in one write. */
function endWith(response: ServerResponse, parts: readonly Buffer[]): void {
	const [first] = parts;
	if (first && parts.length === 1) {
		// As a text, byte for byte, a short one becomes one with the head: one piece less to write, some percent of a call.
		if (first.length <= MAX_TEXT_BYTES) response.end(first.toString('latin1'), 'latin1');
		else response.end(first);
		return;
	}
	response.cork();
	for (const part of parts) response.write(part);
	response.end();
	response.uncork();
}
