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
 * An upstream that is restarted, or reconnected to, whenever it ends, and re-initialized.
 *
 * Pending requests fail with the reason, since it is unknown how much of them was done. An upstream that ends before it has
 * responded to the first initialize is not restarted: that handshake fails, and the next one starts it. A child that
 * exits during a later handshake, or once more while its client sends nothing, is restarted with the next request. Otherwise
 * requests wait for the restart.
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
		hasQueued: id => upstream.holds(id),
	};
}

class RestartingUpstream {
	readonly incoming = new Channel();
	readonly #options: RestartOptions;
	readonly #requests = new UpstreamRequests();
	#endpoint: Endpoint | undefined;
	#subscription: Subscription | undefined;
	#timer: NodeJS.Timeout | undefined;
	/** Removes the next start from the queue. */
	#cancelStart: (() => void) | undefined;
	#initializeRequest: Envelope | undefined;
	#initializedNotification: Envelope | undefined;
	/** The key of the handshake that is under way. */
	#initializeKey: string | undefined;
	/** Whether the client's own handshake was answered. An upstream without a handshake has responded to something. */
	#isClientInitialized = false;
	/** Whether the present connection has responded to its handshake. */
	#hasResponded = false;
	/** Whether the present connection has received anything from the client, which may have left. */
	#hasReceived = false;
	#isReady = false;
	/** Whether it is started with the next request only, not before `#startsAt` by the clock of `performance`. */
	#isStopped = false;
	#startsAt = 0;
	#isOver = false;
	/** Why it is not even tried again. */
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
		if (this.#initializeRequest && this.#isClientInitialized && !this.#isOver)
			this.#initialize(this.#initializeRequest);
		else this.#flushQueue();
	}

	/** A connection, or what there is instead of one: without files to open, say, not even a child can be made. */
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
		if (this.#isOver || this.#permanentError) return;
		if (method === 'notifications/cancelled' && this.#requests.cancel(envelope)) return;
		if (method === 'initialize') {
			this.#initializeRequest = envelope;
			this.#isClientInitialized = false;
		}
		if (method === 'notifications/initialized') this.#initializedNotification = envelope;
		const isRequest = id !== undefined && method !== undefined;
		if (this.#isReady) this.#forward(envelope);
		// Only a request wakes it. Notifications for the one that exited would fill the queue, and no request be read any more.
		else if (isRequest || !this.#isStopped) this.#requests.queued.add(envelope);
		if (this.#isStopped && isRequest) this.#startForRequest(method === 'initialize');
	}

	holds(id: string): boolean {
		return this.#requests.queued.has(id);
	}

	/** Starts it for a request: for a handshake now, else when its pause is over. */
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
			const translated = retranslate(queued, answer => this.incoming.next(answer));
			if (!translated) continue;
			translated.headers ??= queued.headers;
			this.#forward(translated);
		}
	}

	#onDisconnect(endpoint: Endpoint | undefined, reason: unknown): void {
		if (this.#isOver || endpoint !== this.#endpoint) return;
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
		// Pending requests have their errors by then, so that the receiver may close this.
		onDisconnect(error, isRetried);
	}

	#restart(error: BridgeError, delayMs: number): void {
		this.#timer = setTimeout(() => this.start(), delayMs).unref();
		this.#rejectAll(this.#requests.takePending(), restartingError(error, delayMs, false));
	}

	/** It is not started again before the next request. What waits for it fails, too. */
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
		if (this.#isOver) return;
		this.#isOver = true;
		clearTimeout(this.#timer);
		this.#cancelStart?.();
		this.#requests.takeAll();
		this.incoming.complete();
		// It is listened to until it has ended: an output that nobody reads is held to be full, and its end is waited for.
		await this.#endpoint?.close();
		this.#subscription?.unsubscribe();
	}
}
