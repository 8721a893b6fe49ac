import type {IncomingHttpHeaders} from 'node:http';
import {Channel} from '../../core/channel.js';
import type {Envelope, Headers} from '../../core/envelope.js';
import {SlotMap} from '../../core/fast/slot-map.js';
import type {Log} from '../../core/log.js';
import {QueuedMessages} from '../../core/requests/queued.js';
import type {Endpoint} from '../../core/stage.js';
import {
	isUpstreamCommand,
	LISTEN_COMMAND,
	RESUMED_COMMAND,
	SESSION_ID_CHANGED,
	type UpstreamCommand,
	type UpstreamControl,
} from '../../core/upstream-control.js';
import {MESSAGE_LIMIT} from '../../operators/frame.js';
import {canonicalId} from '../../wire/id.js';
import {memberText} from '../../wire/member.js';
import {
	type AbortRequest,
	type HttpRequestOptions,
	headersWithoutBody,
	sendHttpRequest,
} from './http-request.js';
import {ListeningStream} from './listening-stream.js';
import {OneWayPosts} from './one-way-posts.js';
import {PendingHttpRequest} from './pending-http-request.js';
import {sessionIdNotification} from './session-id-notification.js';

type HttpClientOptions = {
	readonly name: string;
	readonly url: URL;
	readonly log: Log;
	readonly maxBytes?: number;
	/** How long the server may take for a message that has no response, in milliseconds. */
	readonly oneWayTimeoutMs?: number;
	/** Where any of several replicas may carry the conversation on. */
	readonly upstreamControl?: UpstreamControl | undefined;
};

/** How long what follows waits for a server to take note that the handshake is complete. */
const INITIALIZED_TIMEOUT_MS = 10_000;
/** How long the end of a session may take. */
const CLOSE_TIMEOUT_MS = 1000;

/**
 * A server behind streamable HTTP: every message is a request of its own, and its answer comes as JSON or as events.
 *
 * Messages leave with the headers that the stages have put on them. What the server says of its own accord comes on a
 * stream that is opened once the handshake is complete.
 */
export function httpClient(options: HttpClientOptions): Endpoint {
	const client = new HttpClient(options);
	return {
		name: options.name,
		incoming: client.incoming,
		outgoing: {next: envelope => client.send(envelope), error: () => {}, complete: () => {}},
		disconnected: new Promise(() => {}),
		close: () => client.close(),
		hasQueued: id => client.holds(id),
	};
}

class HttpClient {
	readonly incoming = new Channel();
	readonly #options: HttpClientOptions;
	/** What is under way, by the key of the request that was made. */
	readonly #pending = new SlotMap<string, PendingHttpRequest>();
	/** What waits until the server has heard that the handshake is complete: on another connection it may come first. */
	readonly #queued = new QueuedMessages();
	readonly #oneWayPosts: OneWayPosts;
	#isInitializing = false;
	/** The headers of the last message that the server took, for what is no message. */
	#headers: Headers = {};
	/** The id that the session has got since its first response, for messages that were queued before. */
	#currentSessionId: string | undefined;
	#listening: ListeningStream | undefined;
	/** Whether what the server says of its own accord is listened to. */
	#isListening: boolean;
	#isOver = false;

	constructor(options: HttpClientOptions) {
		this.#options = options;
		this.#oneWayPosts = new OneWayPosts({...options, onResponse: (...heads) => this.#onSessionId(...heads)});
		this.#isListening = options.upstreamControl === undefined;
	}

	send(envelope: Envelope): void {
		if (this.#isOver) return;
		if (envelope.head.method === SESSION_ID_CHANGED && !envelope.original.isReceived)
			this.#onSessionIdChanged(envelope.headers);
		else if (!this.#isInitializing) this.#post(envelope);
		else if (!this.#cancelsQueued(envelope)) this.#queued.add(envelope);
	}

	holds(id: string): boolean {
		return this.#queued.has(id);
	}

	/** Whether it cancels a request that has not been sent, which is dropped then. */
	#cancelsQueued({head: {method}, bytes}: Envelope): boolean {
		if (method !== 'notifications/cancelled') return false;
		const id = memberText(bytes, 'params', 'requestId');
		return id !== undefined && this.#queued.remove(id);
	}

	#post(envelope: Envelope): void {
		const {method, key} = envelope.head;
		this.#headers = envelope.headers ?? {};
		if (this.#options.upstreamControl && isUpstreamCommand(method)) {
			this.#onCommand(method);
			return;
		}
		if (method === 'initialize') {
			this.#stopListening();
			this.#currentSessionId = undefined;
			if (this.#options.upstreamControl) this.#options.upstreamControl.heard = undefined;
		}
		if (method === 'notifications/initialized') this.#sendInitialized(envelope, 2);
		else if (method === 'notifications/cancelled') this.#cancel(envelope);
		else if (key !== undefined && method !== undefined) this.#sendRequest(envelope, key);
		else this.#oneWayPosts.post(envelope);
	}

	#onSessionId(received: IncomingHttpHeaders, sent: Headers): void {
		const notification = this.#isOver ? undefined : sessionIdNotification(this.#options.name, received, sent);
		if (notification) this.incoming.next(notification);
	}

	/** The session has another id. A server may have rejected the stream for want of it. */
	#onSessionIdChanged(headers: Headers = {}): void {
		this.#headers = headers;
		this.#currentSessionId = headers['mcp-session-id'];
		if (this.#listening && !this.#listening.isOpen && this.#isListening) this.#listen();
	}

	/** What bridge says itself is for here. A word is followed from then on, also in a session that takes the place of this. */
	#onCommand(command: UpstreamCommand): void {
		if (command === RESUMED_COMMAND) return;
		this.#isListening = command === LISTEN_COMMAND;
		if (!this.#isListening) this.#stopListening();
		else if (!this.#listening?.isOpen) this.#listen();
	}

	#sendRequest(envelope: Envelope, key: string): void {
		const {name, log, url, maxBytes = MESSAGE_LIMIT} = this.#options;
		const request = new PendingHttpRequest({
			name,
			url,
			log,
			maxBytes,
			request: envelope,
			onMessage: message => this.incoming.next(message),
			onDone: () => {
				if (this.#pending.get(key) === request) this.#pending.delete(key);
			},
		});
		this.#pending.set(key, request);
		request.start();
	}

	/** The server hears of nothing else until it knows that the handshake is complete; then what it says itself is listened to. */
	#sendInitialized(envelope: Envelope, attempts: number): void {
		this.#isInitializing = true;
		let timer: NodeJS.Timeout | undefined;
		const stop = this.#oneWayPosts.post(envelope, status => {
			clearTimeout(timer);
			const isAccepted = status !== undefined && status < 300;
			if (!isAccepted && attempts > 1) this.#sendInitialized(envelope, attempts - 1);
			else this.#onInitialized();
		});
		timer = setTimeout(() => {
			stop();
			const {name, log} = this.#options;
			const event = `${name} did not respond to notifications/initialized within ${INITIALIZED_TIMEOUT_MS / 1000} s`;
			log.warn('http.initialized.unanswered', `${event}. Requests that waited for it are sent now.`, {
				server: name,
			});
			this.#onInitialized();
		}, INITIALIZED_TIMEOUT_MS).unref();
	}

	#onInitialized(): void {
		if (!this.#isInitializing) return;
		this.#isInitializing = false;
		if (this.#isOver) return;
		if (this.#isListening) this.#listen();
		for (const queued of this.#queued.drain()) {
			if (this.#currentSessionId !== undefined)
				queued.headers = {...queued.headers, 'mcp-session-id': this.#currentSessionId};
			this.send(queued);
		}
	}

	#listen(): void {
		this.#stopListening();
		const {name, url, log, maxBytes = MESSAGE_LIMIT, upstreamControl} = this.#options;
		const onMessage = (message: Envelope): void => {
			this.#saveLastEventId();
			this.incoming.next(message);
		};
		this.#listening = new ListeningStream({
			name,
			url,
			log,
			maxBytes,
			headers: () => headersWithoutBody(this.#headers),
			onResponse: (...heads) => this.#onSessionId(...heads),
			lastEventId: upstreamControl?.heard,
			onMessage,
		});
		this.#listening.open();
	}

	#saveLastEventId(): void {
		const {upstreamControl} = this.#options;
		if (upstreamControl && this.#listening) upstreamControl.heard = this.#listening.lastEventId;
	}

	#stopListening(): void {
		this.#saveLastEventId();
		this.#listening?.stop();
		this.#listening = undefined;
	}

	/** Nobody waits for the answer any more. Without sessions, the end of the connection is how the server is told. */
	#cancel(envelope: Envelope): void {
		const id = memberText(envelope.bytes, 'params', 'requestId');
		const key = id === undefined ? undefined : canonicalId(id);
		const request = key === undefined ? undefined : this.#pending.get(key);
		if (!envelope.headers?.['mcp-method']) this.#oneWayPosts.post(envelope);
		request?.stop();
	}

	async close(): Promise<number | undefined> {
		if (this.#isOver) return;
		this.#isOver = true;
		this.#queued.drain();
		this.#stopListening();
		for (const request of this.#pending.values()) request.stop();
		this.incoming.complete();
		const {upstreamControl} = this.#options;
		if (
			this.#headers['mcp-session-id'] === undefined ||
			(upstreamControl && !upstreamControl.isConnectionBound && !upstreamControl.isEnded)
		)
			return;
		return new Promise(resolve => {
			const abort = this.#sendHttp({
				method: 'DELETE',
				headers: headersWithoutBody(this.#headers),
				onResponse: status => {
					resolve(status);
					return {onData: () => {}, onEnd: () => {}};
				},
				onError: () => resolve(undefined),
			});
			setTimeout(() => {
				abort();
				resolve(undefined);
			}, CLOSE_TIMEOUT_MS).unref();
		});
	}

	#sendHttp(request: Omit<HttpRequestOptions, 'url'>): AbortRequest {
		return sendHttpRequest({url: this.#options.url, ...request});
	}
}
