import type {IncomingHttpHeaders} from 'node:http';
import {Observable, type Subscriber} from 'rxjs';
import {Envelope, type Headers, type MessageOrigin} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import type {Log} from '../../core/log.js';
import {networkErrorReason} from '../../core/network-error-reason.js';
import {QueuedMessages} from '../../core/requests/queued.js';
import type {Endpoint} from '../../core/stage.js';
import {Valve} from '../../core/valve.js';
import {warnRateLimited} from '../../core/warn-rate-limited.js';
import {envelopeFromMessage} from '../../core/whole-message.js';
import {MESSAGE_LIMIT} from '../../operators/frame.js';
import {type SseEvent, SseParser} from '../../wire/sse.js';
import {BodyBackpressure} from '../http-client/body-backpressure.js';
import {type AbortRequest, type BodyHandler, sendHttpRequest} from '../http-client/http-request.js';
import {
	failedRequestResponse,
	MAX_HTTP_ERROR_BYTES,
	type UpstreamHttpError,
	upstreamHttpError,
} from '../http-client/upstream-http-error.js';

export type SseClientOptions = {
	readonly name: string;
	readonly url: URL;
	readonly headers?: () => Headers;
	readonly log: Log;
	readonly maxBytes?: number;
};

/**
 * Connects to an upstream over HTTP+SSE (2024-11-05).
 *
 * The first event of the GET stream is the address for POSTs; the events after it are messages. Outgoing
 * messages are queued until that address is known.
 */
export function sseClient(options: SseClientOptions): Endpoint {
	const client = new SseClient(options);
	return {
		name: options.name,
		incoming: new Observable(subscriber => client.start(subscriber)),
		outgoing: {next: envelope => client.send(envelope), error: () => {}, complete: () => {}},
		disconnected: client.closed,
		close: async () => client.close(),
	};
}

class SseClient {
	readonly closed: Promise<void>;
	readonly #options: SseClientOptions;
	readonly #origin: MessageOrigin;
	readonly #parser: SseParser;
	/** Messages that are not posted yet. They are posted one at a time, to keep their order. */
	readonly #queued = new QueuedMessages();
	/** Messages drained from the queue, to be posted before the rest of it. */
	#batch: Envelope[] = [];
	#subscriber: Subscriber<Envelope> | undefined;
	#streamUrl: URL;
	/** The address for POSTs, from the endpoint event. */
	#postUrl: URL | undefined;
	#isPosting = false;
	readonly #backpressure: BodyBackpressure;
	#isOver = false;
	#abortStream: AbortRequest = () => {};
	#abortPost: AbortRequest = () => {};
	#resolveClosed: () => void = () => {};

	constructor(options: SseClientOptions) {
		this.#options = options;
		this.#streamUrl = options.url;
		this.#origin = {name: options.name, valve: new Valve()};
		this.#backpressure = new BodyBackpressure(this.#origin.valve);
		this.#parser = new SseParser(options.maxBytes ?? MESSAGE_LIMIT, {
			event: event => this.#onEvent(event),
			tooLarge: (start, oversized) =>
				this.#subscriber?.next(Envelope.tooLarge(start, oversized, this.#origin)),
		});
		this.closed = new Promise(resolve => {
			this.#resolveClosed = resolve;
		});
	}

	start(subscriber: Subscriber<Envelope>): () => void {
		this.#subscriber = subscriber;
		this.#abortStream = sendHttpRequest({
			method: 'GET',
			url: this.#options.url,
			headers: {...this.#headers(), accept: 'text/event-stream'},
			onResponse: (status, headers, url) => {
				this.#streamUrl = url;
				return this.#onResponse(status, headers);
			},
			onError: error => this.#end(this.#unreachable(networkErrorReason(error))),
		});
		return () => this.close();
	}

	send(envelope: Envelope): void {
		if (this.#isOver) return;
		this.#queued.add(envelope);
		this.#postNext();
	}

	close(): void {
		this.#end();
	}

	#headers(): Headers {
		return {...this.#options.headers?.(), 'accept-encoding': 'identity'};
	}

	#onResponse(status: number, headers: IncomingHttpHeaders): BodyHandler {
		const type = String(headers['content-type'] ?? '');
		if (status !== 200)
			return this.#readHttpError(status, headers, failure => this.#endWithHttpError(failure));
		if (!type.startsWith('text/event-stream'))
			this.#end(
				this.#unreachable(`it responded with ${type || 'no Content-Type'} instead of text/event-stream`),
			);
		return {
			onData: (chunk, controller) => {
				this.#parser.push(chunk);
				this.#backpressure.apply(controller);
			},
			onEnd: () => this.#end(this.#unreachable('its event stream ended')),
		};
	}

	#endWithHttpError(failure: UpstreamHttpError): void {
		for (const envelope of this.#queued.drain()) this.#fail(envelope, failure);
		this.#end(failure.error);
	}

	#onEvent({event = 'message', line, data}: SseEvent): void {
		if (event === 'endpoint') this.#onEndpoint(String(data));
		else if (event !== 'message') {
			const text = `${this.#options.name} sent an SSE event that is not a message; it was dropped.`;
			this.#options.log.debug('sse.other_event', text);
		} else if (line.length > 1) this.#subscriber?.next(messageIn(line, data, this.#origin));
	}

	#onEndpoint(address: string): void {
		const {name, log} = this.#options;
		const url = this.#streamUrl;
		if (this.#postUrl) {
			const text = `${name} sent another endpoint event; it was ignored.`;
			warnRateLimited(log, 'sse.second_endpoint', text, {}, name);
			return;
		}
		const target = URL.canParse(address, url.href) ? new URL(address, url) : undefined;
		if (target?.origin !== url.origin) {
			this.#end(otherOriginError(name));
			return;
		}
		this.#postUrl = target;
		this.#postNext();
	}

	#postNext(): void {
		if (this.#isPosting || this.#isOver || !this.#postUrl) return;
		if (this.#batch.length === 0) this.#batch = this.#queued.drain();
		const envelope = this.#batch.shift();
		if (envelope) this.#post(envelope, this.#postUrl);
	}

	#post(envelope: Envelope, url: URL): void {
		this.#isPosting = true;
		let isAccepted = false;
		const done = (): void => {
			this.#isPosting = false;
			this.#postNext();
		};
		this.#abortPost = sendHttpRequest({
			method: 'POST',
			url,
			body: envelope.bytes,
			headers: {...this.#headers(), ...envelope.headers, 'content-type': 'application/json'},
			onResponse: (status, headers) => {
				isAccepted = status < 300;
				if (isAccepted) {
					// Does not wait for the end of the body, which is ignored.
					done();
					return {onData: () => {}, onEnd: () => {}};
				}
				return this.#readHttpError(status, headers, failure => {
					this.#fail(envelope, failure);
					done();
				});
			},
			onError: error => {
				if (isAccepted) return;
				this.#fail(envelope, {
					error: this.#unreachable(`a message could not be posted: ${networkErrorReason(error)}`),
				});
				done();
			},
		});
	}

	/** Replies to a request that could not be posted with an error; logs any other message. */
	#fail(envelope: Envelope, failure: Pick<UpstreamHttpError, 'error'> & Partial<UpstreamHttpError>): void {
		const {name, log} = this.#options;
		const response = failedRequestResponse(envelope, name, failure);
		if (response) this.#subscriber?.next(response);
		else
			log.warn(
				'http.not_taken',
				`${name} did not accept ${envelope.head.method ?? 'a response'}: ${failure.error.message}`,
			);
	}

	#readHttpError(
		status: number,
		headers: IncomingHttpHeaders,
		onDone: (failure: UpstreamHttpError) => void,
	): BodyHandler {
		const chunks: Buffer[] = [];
		let length = 0;
		const finish = (): void => {
			const body = Buffer.concat(chunks).subarray(0, MAX_HTTP_ERROR_BYTES);
			onDone(upstreamHttpError(this.#options, {status, headers, body}));
		};
		return {
			onData: (chunk, controller) => {
				chunks.push(chunk);
				length += chunk.length;
				if (length < MAX_HTTP_ERROR_BYTES) return;
				controller.stop();
				finish();
			},
			onEnd: finish,
		};
	}

	#end(error?: BridgeError): void {
		if (this.#isOver) return;
		this.#isOver = true;
		this.#abortStream();
		this.#abortPost();
		this.#queued.drain();
		if (error) this.#subscriber?.error(error);
		else this.#subscriber?.complete();
		this.#resolveClosed();
	}

	#unreachable(reason: string): BridgeError {
		const {name} = this.#options;
		return new BridgeError(
			'ERR_UPSTREAM_UNREACHABLE',
			`${name} cannot be reached: ${reason}.`,
			'Check the address and that the server is running.',
		);
	}
}

/** Returns the message of an event. Data of one line, the usual case, is not copied. */
const messageIn = (line: Buffer, data: Buffer, origin: MessageOrigin): Envelope =>
	line.indexOf('\n') === data.length ? Envelope.received(line, origin) : envelopeFromMessage(data, origin);

const otherOriginError = (name: string): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_INVALID',
		`${name} sent an endpoint event with an address on another origin; it was rejected.`,
		'Posting there would send messages and credentials to a third party. Report this to the author of the server.',
	);
