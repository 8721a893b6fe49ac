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
	readonly onDone: () => void;
};

/** Attempts to resume a stream that ended before the response. Each received message resets the count. */
const MAX_RESUMPTIONS = 5;
/** The limit of a forwarded HTTP error body. */
const MAX_ERROR_BODY_BYTES = 2 ** 20;
/** Methods without side effects. They are retried even if the upstream may have received the request. */
const safeMethods: readonly unknown[] = [
	'ping',
	'tools/list',
	'prompts/list',
	'resources/list',
	'resources/templates/list',
];
const noHeaders: Headers = {};
/** The delay before a retry after a refused connection: the upstream may be starting. */
const RETRY_DELAY_MS = 200;

/** How long a stream may stay open after the response. */
const STREAM_CLOSE_MS = 1000;

/** A request to an upstream over HTTP, until its response arrives as JSON or on a resumable stream. */
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
			onError: (error, hasResponse) => this.#onError(error, hasResponse),
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

	get #isStateless(): boolean {
		return this.#options.request.headers?.['mcp-method'] !== undefined;
	}

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
				else if (body.length === 0) this.#fail(`it responded with status ${status} and an empty body`);
				else if (!type.startsWith('application/json'))
					this.#fail(`it responded with ${type || 'no Content-Type'}, which is not MCP`);
				else this.#onBody(body);
			},
		};
	}

	#onBody(body: BodyBuffer): void {
		for (const envelope of receivedEnvelopesInParts(body.lineChunks(), body.length, this.#origin))
			this.#onMessage(envelope);
		if (!this.#isOver) this.#fail('its response does not match the request');
	}

	#onMessage(envelope: Envelope): void {
		if (this.#isOver) return;
		const {key, method} = envelope.head;
		const isResponse = method === undefined && key === this.#options.request.head.key;
		this.#resumptions = 0;
		if (isResponse) this.#finish();
		// An upstream that does not end the stream after the response would occupy a connection.
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

	/** Resumes a stream that ended before the response, if it had event ids. */
	#onStreamEnded(): void {
		clearTimeout(this.#timer);
		if (this.#isOver) return;
		const {lastEventId, retryMs} = this.#reader ?? {};
		// The stateless era has no resumption.
		if (lastEventId === undefined || this.#isStateless || ++this.#resumptions > MAX_RESUMPTIONS)
			this.#fail('its stream ended before the response');
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
				this.#fail(`its stream ended before the response and could not be resumed (status ${status})`);
				return {onData: () => {}, onEnd: () => {}};
			},
			onError: () => this.#onStreamEnded(),
		});
	}

	/** Rejects the request with the upstream's HTTP error, which is forwarded to the client. */
	#rejectWithHttpError(status: number, headers: IncomingHttpHeaders, body: Buffer | undefined): void {
		const {onMessage, request, name} = this.#options;
		if (this.#isOver || request.head.id === undefined) return;
		this.#finish();
		onMessage(
			httpErrorResponse({name, request, isStateless: this.#isStateless}, this.#origin, {
				status,
				headers,
				body,
			}),
		);
	}

	/** Rejects a redirect that is not followed: its target must not receive the credentials of this origin. */
	#rejectRedirect(status: number, headers: IncomingHttpHeaders): void {
		const {name, log, url} = this.#options;
		const target = describeRedirectTarget(headers, url);
		const event = `responded with status ${status}, a redirect to ${target}; ${REDIRECT_RULE}`;
		warnRateLimited(log, 'http.redirected', `${name} ${event}.`, {server: name, status, target}, name);
		this.#fail(
			`it ${event}`,
			{},
			'If the new address may receive the credentials, set the url of the server to it.',
		);
	}

	#rejectTooLarge(): void {
		const {name, maxBytes} = this.#options;
		this.#reject(
			new BridgeError(
				'ERR_MESSAGE_TOO_LARGE',
				`The response of ${name} is larger than the limit of ${maxBytes} bytes.`,
				'Request less data at a time, or raise limits.message.',
				{limit: maxBytes},
			),
		);
	}

	#fail(reason: string, details: ErrorDetails = {}, remedy = CHECK_UPSTREAM): void {
		const {name} = this.#options;
		const message = `The request to ${name} failed: ${reason}.`;
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

const CHECK_UPSTREAM = 'Check that it is running, that its address is right, and that it is an MCP server.';

const EVENT_STREAM = 'text/event-stream';

const contentTypeOf = (headers: IncomingHttpHeaders): string =>
	(headerValue(headers, 'content-type') ?? '').toLowerCase();
