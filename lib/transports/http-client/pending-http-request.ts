import type {IncomingHttpHeaders} from 'node:http';
import {Envelope, type Headers, type MessageOrigin} from '../../core/envelope.js';
import {BridgeError, type ErrorDetails} from '../../core/errors.js';
import type {Log} from '../../core/log.js';
import {networkErrorReason} from '../../core/network-error-reason.js';
import {Valve} from '../../core/valve.js';
import {warnRateLimited} from '../../core/warn-rate-limited.js';
import {BodyBuffer} from '../../http/body-buffer.js';
import {EventReader} from './event-reader.js';
import {httpErrorResponse, isUndelivered} from './http-error-response.js';
import {
	type AbortRequest,
	type BodyHandler,
	headersWithoutBody,
	headerValue,
	sendHttpRequest,
	sessionIdIn,
} from './http-request.js';
import {receivedEnvelopesInParts} from './received-envelopes.js';
import {describeRedirectTarget, REDIRECT_RULE} from './redirect.js';

type PendingHttpRequestOptions = {
	readonly name: string;
	readonly url: URL;
	readonly log: Log;
	readonly maxBytes: number;
	readonly request: Envelope;
	readonly onMessage: (envelope: Envelope) => void;
	/** Nothing more will be heard in answer to this request. */
	readonly onDone: () => void;
};

/** How often a stream that ends without the answer is taken up again, if nothing new comes of it. */
const MAX_RESUMPTIONS = 5;
/** How much of the body of a refusal is passed on. */
const MAX_ERROR_BODY_BYTES = 2 ** 20;
/** What may be asked again if it is not known whether it arrived: it changes nothing. */
const safeMethods: readonly unknown[] = [
	'ping',
	'tools/list',
	'prompts/list',
	'resources/list',
	'resources/templates/list',
];
const noHeaders: Headers = {};
/** After how long a server is tried again that did not even take the connection: it may be about to start. */
const RETRY_DELAY_MS = 200;

/** How long a stream may stay open behind the answer. */
const STREAM_CLOSE_MS = 1000;

/** One request to a server behind HTTP, until its answer is there, however it comes. */
export class PendingHttpRequest {
	readonly #options: PendingHttpRequestOptions;
	#origin: MessageOrigin;
	#reader: EventReader | undefined;
	#abort: AbortRequest = () => {};
	#timer: NodeJS.Timeout | undefined;
	#isOver = false;
	#isRetried = false;
	#resumptions = 0;

	constructor(options: PendingHttpRequestOptions) {
		this.#options = options;
		this.#origin = {name: options.name, valve: new Valve()};
	}

	start(): void {
		const {url, request} = this.#options;
		const [first, ...others] = request.bytesInParts;
		const body = first && others.length === 0 ? first : request.bytes;
		this.#abort = sendHttpRequest({
			method: 'POST',
			url,
			headers: request.headers ?? noHeaders,
			body,
			onResponse: (status, headers) => this.#onResponse(status, headers),
			onError: (error, wasBegun) => this.#onError(error, wasBegun),
		});
	}

	#onError(error: Error, hasResponse: boolean): void {
		if (this.#reader) {
			this.#onStreamEnded();
			return;
		}
		const canRetry = !hasResponse && !this.#isRetried && !this.#isOver;
		this.#isRetried = true;
		if (canRetry && isUndelivered(error)) this.#timer = setTimeout(() => this.start(), RETRY_DELAY_MS);
		else if (canRetry && safeMethods.includes(this.#options.request.head.method)) this.start();
		else this.#fail(networkErrorReason(error), {connection: 'failed'});
	}

	/** Whether it is a request of the era without sessions. */
	get #isStateless(): boolean {
		return this.#options.request.headers?.['mcp-method'] !== undefined;
	}

	/** Nobody waits for it any more. */
	stop(): void {
		if (this.#isOver) return;
		this.#finish();
		this.#abort();
	}

	#onResponse(status: number, headers: IncomingHttpHeaders): BodyHandler {
		const {name, request} = this.#options;
		const session = sessionIdIn(headers);
		const {id} = request.head;
		const {valve} = this.#origin;
		const sessionHeaders: Headers = session === undefined ? noHeaders : {'mcp-session-id': session};
		this.#origin =
			id === undefined
				? {name, valve, headers: sessionHeaders}
				: {name, valve, headers: sessionHeaders, relatedRequestId: id};
		const type = contentTypeOf(headers);
		if (status < 300 && type.startsWith(EVENT_STREAM)) return this.#readEvents();
		return this.#readBody(status, headers, type);
	}

	/** An answer that is one piece. */
	#readBody(status: number, headers: IncomingHttpHeaders, type: string): BodyHandler {
		const body = new BodyBuffer(status < 300 ? this.#options.maxBytes : MAX_ERROR_BODY_BYTES);
		return {
			onData: (chunk, controller) => {
				if (body.add(chunk)) return;
				controller.stop();
				if (status >= 400) this.#rejectWithHttpError(status, headers, undefined);
				else this.#rejectTooLarge();
			},
			onEnd: () => {
				if (status >= 400) this.#rejectWithHttpError(status, headers, body.bytes());
				else if (status >= 300) this.#rejectRedirect(status, headers);
				else if (body.length === 0) this.#fail(`it answered with status ${status} and nothing else`);
				else if (!type.startsWith('application/json'))
					this.#fail(`it responded with ${type || 'no Content-Type'}, which is not MCP`);
				else this.#onBody(body);
			},
		};
	}

	#onBody(body: BodyBuffer): void {
		for (const envelope of receivedEnvelopesInParts(body.lineChunks(), body.length, this.#origin))
			this.#onMessage(envelope);
		if (!this.#isOver) this.#fail('it answered something else than it was asked');
	}

	#onMessage(envelope: Envelope): void {
		if (this.#isOver) return;
		const {key, method} = envelope.head;
		const isResponse = method === undefined && key === this.#options.request.head.key;
		this.#resumptions = 0;
		if (isResponse) this.#finish();
		// A stream that its server leaves open behind the answer would keep a connection for nothing.
		if (isResponse && this.#reader) this.#timer = setTimeout(this.#abort, STREAM_CLOSE_MS).unref();
		this.#options.onMessage(envelope);
	}

	#readEvents(): BodyHandler {
		const {maxBytes} = this.#options;
		const {origin, lastEventId} = {origin: this.#origin, lastEventId: this.#reader?.lastEventId};
		const onMessage = (envelope: Envelope): void => this.#onMessage(envelope);
		this.#reader = new EventReader({
			origin,
			maxBytes,
			lastEventId,
			onMessage,
			onEnd: () => this.#onStreamEnded(),
		});
		return this.#reader;
	}

	/** The stream has ended before the answer. It can be taken up where it was, if the server has said where that is. */
	#onStreamEnded(): void {
		clearTimeout(this.#timer);
		if (this.#isOver) return;
		const {lastEventId, retryMs} = this.#reader ?? {};
		// Without sessions there is nothing that could be taken up again.
		if (lastEventId === undefined || this.#isStateless || ++this.#resumptions > MAX_RESUMPTIONS)
			this.#fail('its stream ended before the answer');
		else this.#timer = setTimeout(() => this.#resume(lastEventId), retryMs);
	}

	#resume(lastEventId: string): void {
		const {url, request} = this.#options;
		const headers = headersWithoutBody(request.headers ?? {});
		this.#abort = sendHttpRequest({
			method: 'GET',
			url,
			headers: {...headers, accept: EVENT_STREAM, 'last-event-id': lastEventId},
			onResponse: (status, responseHeaders) => {
				if (status < 300 && contentTypeOf(responseHeaders).startsWith(EVENT_STREAM))
					return this.#readEvents();
				this.#fail(`its stream ended before the answer, and cannot be taken up again (status ${status})`);
				return {onData: () => {}, onEnd: () => {}};
			},
			onError: () => this.#onStreamEnded(),
		});
	}

	/** The client may want to know how it was refused, in full. */
	#rejectWithHttpError(status: number, headers: IncomingHttpHeaders, body: Buffer | undefined): void {
		const {onMessage, request, name} = this.#options;
		if (this.#isOver || request.head.id === undefined) return;
		this.#finish();
		onMessage(
			httpErrorResponse({name, request, isModern: this.#isStateless}, this.#origin, {status, headers, body}),
		);
	}

	/** A redirect that is not followed: its target may be another server, which must not get the credentials of this one. */
	#rejectRedirect(status: number, headers: IncomingHttpHeaders): void {
		const {name, log, url} = this.#options;
		const target = describeRedirectTarget(headers, url);
		const event = `responded with status ${status}, a redirect to ${target}; ${REDIRECT_RULE}`;
		warnRateLimited(log, 'http.redirected', `${name} ${event}.`, {server: name, status, target}, name);
		this.#fail(
			`it ${event}`,
			{},
			'Set the url of that server to where it is now, if it is to get the credentials.',
		);
	}

	#rejectTooLarge(): void {
		const {name, maxBytes} = this.#options;
		this.#reject(
			new BridgeError(
				'ERR_MESSAGE_TOO_LARGE',
				`The answer of ${name} is longer than the limit of ${maxBytes} bytes.`,
				'Ask for less at a time, or raise limits.message.',
				{limit: maxBytes},
			),
		);
	}

	#fail(reason: string, details: ErrorDetails = {}, remedy = CHECK_UPSTREAM): void {
		const {name} = this.#options;
		const message = `${name} gave no answer: ${reason}.`;
		this.#reject(new BridgeError('ERR_UPSTREAM_UNREACHABLE', message, remedy, details));
	}

	#reject(error: BridgeError): void {
		const {onMessage, request} = this.#options;
		if (this.#isOver || request.head.id === undefined) return;
		this.#finish();
		onMessage(Envelope.errorResponse(request.head.id, error, this.#origin));
	}

	#finish(): void {
		this.#isOver = true;
		clearTimeout(this.#timer);
		this.#options.onDone();
	}
}

const CHECK_UPSTREAM = 'Check that it runs, that its address is right, and that it is an MCP server.';

const EVENT_STREAM = 'text/event-stream';

const contentTypeOf = (headers: IncomingHttpHeaders): string =>
	(headerValue(headers, 'content-type') ?? '').toLowerCase();
