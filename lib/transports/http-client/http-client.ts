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
	/** The timeout of a POST without a JSON-RPC response. */
	readonly oneWayTimeoutMs?: number;
	/** Set if any of several replicas may continue the session. */
	readonly upstreamControl?: UpstreamControl | undefined;
};

/** How long later messages are queued for the response to `notifications/initialized`. */
const INITIALIZED_TIMEOUT_MS = 10_000;
const CLOSE_TIMEOUT_MS = 1000;

/**
 * Connects to an upstream over streamable HTTP. Each message is a POST with a response in JSON or SSE.
 *
 * POSTs have the headers that the stages have set on the message. Server-initiated messages arrive on a GET
 * stream, which is opened after the handshake.
 */
export function httpClient(options: HttpClientOptions): Endpoint {
	const client = new HttpClient(options);
	return {
		name: options.name,
		incoming: client.incoming,
		outgoing: {next: envelope => client.send(envelope), error: () => {}, complete: () => {}},
		disconnected: new Promise(() => {}),
		close: () => client.close(),
		hasQueued: id => client.hasQueued(id),
	};
}

class HttpClient {
	readonly incoming = new Channel();
	readonly #options: HttpClientOptions;
	readonly #pending = new SlotMap<string, PendingHttpRequest>();
	/** Messages queued until `notifications/initialized` is accepted: another connection could be faster. */
	readonly #queued = new QueuedMessages();
	readonly #oneWayPosts: OneWayPosts;
	#isInitializing = false;
	/** The headers of the latest message, for GET and DELETE requests. */
	#headers: Headers = {};
	/** The session id since it changed, for messages that were queued before the change. */
	#currentSessionId: string | undefined;
	#listening: ListeningStream | undefined;
	/** Whether this replica opens the GET stream. */
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

	hasQueued(id: string): boolean {
		return this.#queued.has(id);
	}

	/** Whether the message cancels a queued request. That request is dropped. */
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

	/** Stores a new session id. Reopens the GET stream if it failed, perhaps for lack of that id. */
	#onSessionIdChanged(headers: Headers = {}): void {
		this.#headers = headers;
		this.#currentSessionId = headers['mcp-session-id'];
		if (this.#listening && !this.#listening.isOpen && this.#isListening) this.#listen();
	}

	/** Executes a command of bridge itself. It stays in effect in a session that replaces the current one. */
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

	/** Queues later messages until the upstream accepts this one, then opens the GET stream. */
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
			log.warn('http.initialized.unanswered', `${event}. The queued requests are sent now.`, {
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

	/** Aborts a pending request. In the stateless era, the abort replaces the cancel notification. */
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
