import type {ServerResponse} from 'node:http';
import {performance} from 'node:perf_hooks';
import type {Envelope, Headers} from '../envelope.js';
import {noteResponse} from '../http/unread.js';
import {marks} from '../wire/marks.js';
import {EventStream, type EventStreamOptions} from './event-stream.js';
import {leftOver} from './given-up.js';
import {tokenKey} from './token-key.js';

export type HttpReplyOptions = EventStreamOptions & {
	readonly response: ServerResponse;
	readonly accepts: {readonly json: boolean; readonly events: boolean};
	/** The message that came with the POST. */
	readonly request: Envelope;
	/** The headers for an answer to this message: whether it is an error may tell which. */
	readonly headers: (request: Envelope, answer: Envelope | undefined) => Headers;
	/** Whether the client takes an event that only says where it is. */
	readonly takesPriming: () => boolean;
	/** The status for an answer that bridge made itself. */
	readonly statusOf: (answer: Envelope) => number;
};

/** So much may wait for a client that does not read its answer before whoever made it has to wait, too. */
const MUCH = 2 ** 20;
/** What is written together with the head of a response. */
const SHORT = 2 ** 13;

/**
 * What a POST is answered with: the answer alone, as JSON, if that is all there is to say, and else a stream of events,
 * which begins with the first thing that is said before the answer.
 */
export class HttpReply {
	readonly request: Envelope;
	/** The key of the progress token of the request: looked for once, since progress may come by the thousand. */
	readonly token: string | undefined;
	readonly #options: HttpReplyOptions;
	/** Most answers need none. */
	#stream: EventStream | undefined;
	/** When it was asked for, by the clock that only runs forward. */
	readonly since = performance.now();
	/** Whether the head of the response is written. */
	isBegun = false;

	constructor(options: HttpReplyOptions) {
		this.#options = options;
		this.request = options.request;
		const hasToken = (this.request.head.marks & marks.progressToken) !== 0;
		this.token = hasToken ? tokenKey(this.request.bytes, 'params', '_meta') : undefined;
	}

	get stream(): EventStream {
		this.#stream ??= new EventStream(this.#options);
		return this.#stream;
	}

	/** Whether something can be said before the answer: not to who left before there was a stream to come back to. */
	get canStream(): boolean {
		const {accepts, response} = this.#options;
		return accepts.events && (this.isBegun || !response.destroyed);
	}

	/** Starts the stream, which is what tells a client that waits long that somebody is there. */
	begin(): void {
		const {response, headers, takesPriming} = this.#options;
		if (this.isBegun) return;
		this.isBegun = true;
		if (!response.destroyed) this.stream.carryOn(response, headers(this.request, undefined), takesPriming());
	}

	say(envelope: Envelope): void {
		this.begin();
		this.stream.send(envelope);
	}

	/** The last that is to be said. */
	answer(envelope: Envelope): void {
		const {accepts, statusOf, response, headers} = this.#options;
		const isRefused = envelope.origin.refusal !== undefined;
		const status = this.isBegun || isRefused ? 200 : statusOf(envelope);
		if (!this.isBegun && (accepts.json || isRefused || status >= 400)) {
			this.isBegun = true;
			if (!response.destroyed) respond(response, envelope, status, headers(this.request, envelope));
			return;
		}
		this.say(envelope);
		this.stream.end();
	}

	/** The session is over, and with it the hope for an answer. */
	drop(): void {
		this.answer(leftOver(this.request));
	}
}

/** Answers with one message, or as the server did that refused the request over HTTP. */
function respond(response: ServerResponse, envelope: Envelope, status: number, headers: Headers): void {
	const {refusal, valve} = envelope.origin;
	// A message in it goes to the client as any other: under its own id, and in words that it understands.
	const isMessage = refusal === undefined || refusal.body.includes('"jsonrpc"');
	const length = isMessage ? envelope.size : refusal.body.length;
	const common = refusal ? refusal.headers : {'content-type': 'application/json'};
	response.writeHead(refusal?.status ?? status, {...headers, ...common, 'content-length': length});
	endWith(response, isMessage ? envelope.bytesInParts : [refusal.body]);
	noteResponse(response);
	if (length < MUCH || response.destroyed || response.writableFinished) return;
	const release = valve.shut();
	response.once('close', release);
}

/** Ends a response with these parts, in one write. */
function endWith(response: ServerResponse, parts: readonly Buffer[]): void {
	const [first] = parts;
	if (first && parts.length === 1) {
		// As a text, byte for byte, a short one becomes one with the head: one piece less to write, some percent of a call.
		if (first.length <= SHORT) response.end(first.toString('latin1'), 'latin1');
		else response.end(first);
		return;
	}
	response.cork();
	for (const part of parts) response.write(part);
	response.end();
	response.uncork();
}
