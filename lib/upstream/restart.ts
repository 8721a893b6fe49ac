import {performance} from 'node:perf_hooks';
import type {Subscription} from 'rxjs';
import {Channel} from '../core/channel.js';
import {bridgeOrigin, Envelope} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';
import type {Endpoint} from '../core/stage.js';
import {handshakeTimeoutMs} from '../protocol/handshake-timeout.js';
import {listChangedNotifications} from '../protocol/list-changed.js';
import {nextDelayMs, withJitter} from '../util/backoff.js';
import {isObject} from '../util/json.js';
import {canonicalId} from '../wire/id.js';
import {
	connectionClosedError,
	disconnectRecord,
	restartingError,
	shuttingDownError,
	startFailedError,
	startFailedResponse,
} from './restart-errors.js';
import type {RestartOptions} from './restart-options.js';
import {type UpstreamRequest, UpstreamRequests} from './upstream-requests.js';

/**
 * An upstream that is restarted, or reconnected to, after each disconnect, and then re-initialized.
 *
 * Pending requests fail with the reason, since they may have been executed in part. An upstream that
 * disconnects before its first initialize response is not restarted: that handshake fails, and the next one
 * starts it. The next request restarts a child that exits during a later handshake, or before it received a
 * message from the client. In all other cases, requests are queued until the restart.
 */
export function restartingUpstream(options: RestartOptions): Endpoint {
	const upstream = new RestartingUpstream(options);
	upstream.start();
	return {
		name: options.name,
		incoming: upstream.incoming,
		outgoing: {next: envelope => upstream.send(envelope), error: () => {}, complete: () => {}},
		disconnected: new Promise(() => {}),
		close: () => upstream.close(),
		hasQueued: id => upstream.hasQueued(id),
	};
}

class RestartingUpstream {
	readonly incoming = new Channel();
	readonly #options: RestartOptions;
	readonly #requests = new UpstreamRequests();
	#endpoint: Endpoint | undefined;
	#subscription: Subscription | undefined;
	#timer: NodeJS.Timeout | undefined;
	#cancelStart: (() => void) | undefined;
	#initializeRequest: Envelope | undefined;
	#initializedNotification: Envelope | undefined;
	#initializeKey: string | undefined;
	/** Whether the client's own handshake has a result. For a stateless upstream, any response counts. */
	#isClientInitialized = false;
	/** Whether the current connection has responded to its handshake. */
	#hasResponded = false;
	/** Whether the client has sent a message on the current connection. */
	#hasReceived = false;
	#isReady = false;
	/** Whether only a request starts the upstream, not before `#startsAt` (a time of `performance.now()`). */
	#isStopped = false;
	#startsAt = 0;
	#isClosed = false;
	/** The reason why no further start is tried. */
	#permanentError: BridgeError | undefined;
	#delayMs: number | undefined;
	#startedAt = 0;

	constructor(options: RestartOptions) {
		this.#options = options;
	}

	start(): void {
		const {starts: queue, isDraining, name} = this.#options;
		this.#isStopped = false;
		if (isDraining?.()) this.#onDisconnect(undefined, shuttingDownError(name));
		else if (queue) this.#cancelStart = queue.add(() => this.#start());
		else this.#start();
	}

	#start(): void {
		this.#startedAt = performance.now();
		this.#hasResponded = false;
		this.#hasReceived = false;
		const endpoint = this.#open();
		if (!endpoint) return;
		this.#endpoint = endpoint;
		this.#subscription = endpoint.incoming.subscribe({
			next: envelope => this.#onMessage(envelope),
			error: error => this.#onDisconnect(endpoint, error),
			complete: () => this.#onDisconnect(endpoint, undefined),
		});
		if (this.#initializeRequest && this.#isClientInitialized && !this.#isClosed)
			this.#initialize(this.#initializeRequest);
		else this.#flushQueue();
	}

	/** Opens a connection. An exception, such as too many open files, counts as a disconnect. */
	#open(): Endpoint | undefined {
		const {name, open} = this.#options;
		try {
			return open();
		} catch (error) {
			this.#onDisconnect(undefined, error instanceof BridgeError ? error : startFailedError(name, error));
			return;
		}
	}

	send(envelope: Envelope): void {
		const {id, method} = envelope.head;
		if (this.#permanentError && id !== undefined && method !== undefined)
			this.incoming.next(startFailedResponse(id, this.#permanentError, envelope.origin));
		if (this.#isClosed || this.#permanentError) return;
		if (method === 'notifications/cancelled' && this.#requests.cancel(envelope)) return;
		if (method === 'initialize') {
			this.#initializeRequest = envelope;
			this.#isClientInitialized = false;
		}
		if (method === 'notifications/initialized') this.#initializedNotification = envelope;
		const isRequest = id !== undefined && method !== undefined;
		if (this.#isReady) this.#forward(envelope);
		// Only a request starts it. Queued notifications would fill the queue, and requests would not be read.
		else if (isRequest || !this.#isStopped) this.#requests.queued.add(envelope);
		if (this.#isStopped && isRequest) this.#startForRequest(method === 'initialize');
	}

	hasQueued(id: string): boolean {
		return this.#requests.queued.has(id);
	}

	/** Starts the upstream for a request: at once for a handshake, otherwise after the delay. */
	#startForRequest(isNow: boolean): void {
		this.#isStopped = false;
		const waitMs = isNow ? 0 : Math.max(0, this.#startsAt - performance.now());
		this.#timer = setTimeout(() => this.start(), waitMs).unref();
	}

	#forward(envelope: Envelope): void {
		if (envelope.origin !== bridgeOrigin) this.#hasReceived = true;
		this.#requests.addPending(envelope);
		this.#endpoint?.outgoing.next(envelope);
	}

	#onMessage(envelope: Envelope): void {
		const {key, method, hasError} = envelope.head;
		if (method === undefined && key !== undefined) {
			if (key === this.#initializeKey) {
				this.#onInitializeResponse(envelope);
				return;
			}
			this.#requests.removePending(key);
			if (!this.#initializeRequest || (key === this.#initializeRequest.head.key && !hasError)) {
				this.#isClientInitialized = true;
				this.#hasResponded = true;
			}
		}
		this.incoming.next(envelope);
	}

	#initialize(request: Envelope): void {
		const id = JSON.stringify(this.#options.ownId());
		this.#initializeKey = canonicalId(id);
		this.#endpoint?.outgoing.next(request.withId(id));
		const {handshakeMs = handshakeTimeoutMs()} = this.#options;
		if (handshakeMs > 0) this.#timer = setTimeout(() => void this.#endpoint?.close(), handshakeMs).unref();
	}

	#onInitializeResponse(envelope: Envelope): void {
		clearTimeout(this.#timer);
		this.#initializeKey = undefined;
		const result = envelope.head.flaw === undefined ? envelope.body.result : undefined;
		if (!isObject(result)) {
			void this.#endpoint?.close();
			return;
		}
		this.#hasResponded = true;
		if (this.#initializedNotification) this.#endpoint?.outgoing.next(this.#initializedNotification);
		this.#options.onReinitialized(result, performance.now() - this.#startedAt);
		this.#flushQueue(this.#options.retranslate);
		for (const notification of listChangedNotifications(result)) this.incoming.next(notification);
	}

	#flushQueue(retranslate: RestartOptions['retranslate'] = envelope => envelope): void {
		this.#isReady = true;
		for (const queued of this.#requests.queued.drain()) {
			const translated = retranslate(queued, reply => this.incoming.next(reply));
			if (!translated) continue;
			translated.headers ??= queued.headers;
			this.#forward(translated);
		}
	}

	#onDisconnect(endpoint: Endpoint | undefined, reason: unknown): void {
		if (this.#isClosed || endpoint !== this.#endpoint) return;
		const {name, log, onDisconnect, isDraining} = this.#options;
		const error = reason instanceof BridgeError ? reason : connectionClosedError(name);
		clearTimeout(this.#timer);
		this.#subscription?.unsubscribe();
		this.#endpoint = undefined;
		this.#isReady = false;
		this.#initializeKey = undefined;
		if (error.code === 'ERR_COMMAND_UNUSABLE') this.#permanentError = error;
		const isUnstable = error.code === 'ERR_CHILD_EXITED' && !(this.#hasResponded && this.#hasReceived);
		const isRetried = this.#isClientInitialized && !isUnstable && !this.#permanentError && !isDraining?.();
		this.#delayMs = nextDelayMs(this.#delayMs, performance.now() - this.#startedAt);
		const delayMs = withJitter(this.#delayMs);
		log.warn('upstream.lost', ...disconnectRecord(name, error, isRetried ? delayMs : undefined));
		if (isRetried) this.#restart(error, delayMs);
		else this.#stopUntilRequest(error, delayMs);
		// Pending requests have failed already, so that the observer may close this.
		onDisconnect(error, isRetried);
	}

	#restart(error: BridgeError, delayMs: number): void {
		this.#timer = setTimeout(() => this.start(), delayMs).unref();
		this.#rejectAll(this.#requests.takePending(), restartingError(error, delayMs, false));
	}

	/** Waits for the next request before another start. Queued requests fail, too. */
	#stopUntilRequest(error: BridgeError, delayMs: number): void {
		this.#isStopped = true;
		this.#startsAt = performance.now() + (this.#isClientInitialized ? delayMs : 0);
		this.#rejectAll(this.#requests.takeAll(), error);
	}

	#rejectAll(requests: readonly UpstreamRequest[], error: BridgeError): void {
		const respond = this.#permanentError ? startFailedResponse : Envelope.errorResponse;
		for (const {id, origin} of requests) this.incoming.next(respond(id, error, origin));
	}

	async close(): Promise<void> {
		if (this.#isClosed) return;
		this.#isClosed = true;
		clearTimeout(this.#timer);
		this.#cancelStart?.();
		this.#requests.takeAll();
		this.incoming.complete();
		// The subscription stays until the endpoint has closed: unread output would delay its end.
		await this.#endpoint?.close();
		this.#subscription?.unsubscribe();
	}
}
