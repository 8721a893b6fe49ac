import {performance} from 'node:perf_hooks';
import type {Subscription} from 'rxjs';
import {jittered, nextPauseMs} from '../back-off.js';
import {Channel} from '../channel.js';
import {Envelope, local} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {handshakeLimit} from '../handshake-limit.js';
import {listsChanged} from '../lists-changed.js';
import {isObject} from '../protocol/json.js';
import type {Endpoint} from '../stage.js';
import {canonicalId} from '../wire/id.js';
import {ended, lossRecord, restarting, shuttingDown, unopened, unstartable} from './restarting.js';
import type {RevivedOptions} from './revived-options.js';
import {type Unanswered, UnansweredRequests} from './unanswered.js';

/**
 * An upstream that is restarted, or reconnected to, whenever it ends, and re-initialized.
 *
 * Pending requests fail with the reason, since it is unknown how much of them was done. An upstream that ends before it has
 * responded to the first initialize is not restarted: that handshake fails, and the next one starts it. A child that
 * exits during a later handshake, or once more while its client sends nothing, is restarted with the next request. Otherwise
 * requests wait for the restart.
 */
export function revived(options: RevivedOptions): Endpoint {
	const server = new Revived(options);
	server.start();
	return {
		name: options.name,
		incoming: server.incoming,
		outgoing: {next: envelope => server.say(envelope), error: () => {}, complete: () => {}},
		gone: new Promise(() => {}),
		close: () => server.close(),
		holds: id => server.holds(id),
	};
}

class Revived {
	readonly incoming = new Channel();
	readonly #options: RevivedOptions;
	readonly #requests = new UnansweredRequests();
	#endpoint: Endpoint | undefined;
	#heard: Subscription | undefined;
	#timer: NodeJS.Timeout | undefined;
	/** Removes the next start from the queue. */
	#unqueue: (() => void) | undefined;
	#greeting: Envelope | undefined;
	#completion: Envelope | undefined;
	/** The key of the handshake that is under way. */
	#greetingKey: string | undefined;
	/** Whether the client's own handshake was answered. An upstream without a handshake has responded to something. */
	#isGreeted = false;
	/** Whether the present connection has responded to its handshake. */
	#isUp = false;
	/** Whether the present connection has received anything from the client, which may have left. */
	#isUsed = false;
	#isReady = false;
	/** Whether it is started with the next request only, not before `#startsAt` by the clock of `performance`. */
	#isDormant = false;
	#startsAt = 0;
	#isOver = false;
	/** Why it is not even tried again. */
	#final: BridgeError | undefined;
	#pauseMs: number | undefined;
	#upSince = 0;

	constructor(options: RevivedOptions) {
		this.#options = options;
	}

	start(): void {
		const {starts, isDraining, name} = this.#options;
		this.#isDormant = false;
		if (isDraining?.()) this.#lost(undefined, shuttingDown(name));
		else if (starts) this.#unqueue = starts.add(() => this.#start());
		else this.#start();
	}

	#start(): void {
		this.#upSince = performance.now();
		this.#isUp = false;
		this.#isUsed = false;
		const endpoint = this.#opened();
		if (!endpoint) return;
		this.#endpoint = endpoint;
		this.#heard = endpoint.incoming.subscribe({
			next: envelope => this.#hear(envelope),
			error: error => this.#lost(endpoint, error),
			complete: () => this.#lost(endpoint, undefined),
		});
		if (this.#greeting && this.#isGreeted && !this.#isOver) this.#greet(this.#greeting);
		else this.#ready();
	}

	/** A connection, or what there is instead of one: without files to open, say, not even a child can be made. */
	#opened(): Endpoint | undefined {
		const {name, open} = this.#options;
		try {
			return open();
		} catch (error) {
			this.#lost(undefined, error instanceof BridgeError ? error : unopened(name, error));
			return;
		}
	}

	say(envelope: Envelope): void {
		const {id, method} = envelope.head;
		if (this.#final && id !== undefined && method !== undefined)
			this.incoming.next(unstartable(id, this.#final, envelope.origin));
		if (this.#isOver || this.#final) return;
		if (method === 'notifications/cancelled' && this.#requests.cancelled(envelope)) return;
		if (method === 'initialize') {
			this.#greeting = envelope;
			this.#isGreeted = false;
		}
		if (method === 'notifications/initialized') this.#completion = envelope;
		const isRequest = id !== undefined && method !== undefined;
		if (this.#isReady) this.#pass(envelope);
		// Only a request wakes it. Notifications for the one that exited would fill the queue, and no request be read any more.
		else if (isRequest || !this.#isDormant) this.#requests.held.add(envelope);
		if (this.#isDormant && isRequest) this.#wake(method === 'initialize');
	}

	holds(id: string): boolean {
		return this.#requests.held.has(id);
	}

	/** Starts it for a request: for a handshake now, else when its pause is over. */
	#wake(isNow: boolean): void {
		this.#isDormant = false;
		const waitMs = isNow ? 0 : Math.max(0, this.#startsAt - performance.now());
		this.#timer = setTimeout(() => this.start(), waitMs).unref();
	}

	#pass(envelope: Envelope): void {
		if (envelope.origin !== local) this.#isUsed = true;
		this.#requests.sent(envelope);
		this.#endpoint?.outgoing.next(envelope);
	}

	#hear(envelope: Envelope): void {
		const {key, method, hasError} = envelope.head;
		if (method === undefined && key !== undefined) {
			if (key === this.#greetingKey) {
				this.#greeted(envelope);
				return;
			}
			this.#requests.answered(key);
			if (!this.#greeting || (key === this.#greeting.head.key && !hasError)) {
				this.#isGreeted = true;
				this.#isUp = true;
			}
		}
		this.incoming.next(envelope);
	}

	#greet(greeting: Envelope): void {
		const id = JSON.stringify(this.#options.ownId());
		this.#greetingKey = canonicalId(id);
		this.#endpoint?.outgoing.next(greeting.withId(id));
		const {handshakeMs = handshakeLimit()} = this.#options;
		if (handshakeMs > 0) this.#timer = setTimeout(() => void this.#endpoint?.close(), handshakeMs).unref();
	}

	#greeted(envelope: Envelope): void {
		clearTimeout(this.#timer);
		this.#greetingKey = undefined;
		const result = envelope.head.flaw === undefined ? envelope.body.result : undefined;
		if (!isObject(result)) {
			void this.#endpoint?.close();
			return;
		}
		this.#isUp = true;
		if (this.#completion) this.#endpoint?.outgoing.next(this.#completion);
		this.#options.onRevived(result, performance.now() - this.#upSince);
		this.#ready(this.#options.again);
		for (const notice of listsChanged(result)) this.incoming.next(notice);
	}

	#ready(again: RevivedOptions['again'] = envelope => envelope): void {
		this.#isReady = true;
		for (const held of this.#requests.held.takeAll()) {
			const present = again(held, answer => this.incoming.next(answer));
			if (!present) continue;
			present.headers ??= held.headers;
			this.#pass(present);
		}
	}

	#lost(endpoint: Endpoint | undefined, reason: unknown): void {
		if (this.#isOver || endpoint !== this.#endpoint) return;
		const {name, log, onLoss, isDraining} = this.#options;
		const error = reason instanceof BridgeError ? reason : ended(name);
		clearTimeout(this.#timer);
		this.#heard?.unsubscribe();
		this.#endpoint = undefined;
		this.#isReady = false;
		this.#greetingKey = undefined;
		if (error.code === 'ERR_COMMAND_UNUSABLE') this.#final = error;
		const isUseless = error.code === 'ERR_CHILD_EXITED' && !(this.#isUp && this.#isUsed);
		const isRetried = this.#isGreeted && !isUseless && !this.#final && !isDraining?.();
		this.#pauseMs = nextPauseMs(this.#pauseMs, performance.now() - this.#upSince);
		const pauseMs = jittered(this.#pauseMs);
		log.warn('upstream.lost', ...lossRecord(name, error, isRetried ? pauseMs : undefined));
		if (isRetried) this.#restart(error, pauseMs);
		else this.#rest(error, pauseMs);
		// Pending requests have their errors by then, so that the receiver may close this.
		onLoss(error, isRetried);
	}

	#restart(error: BridgeError, pauseMs: number): void {
		this.#timer = setTimeout(() => this.start(), pauseMs).unref();
		this.#fail(this.#requests.takeSent(), restarting(error, pauseMs, false));
	}

	/** It is not started again before the next request. What waits for it fails, too. */
	#rest(error: BridgeError, pauseMs: number): void {
		this.#isDormant = true;
		this.#startsAt = performance.now() + (this.#isGreeted ? pauseMs : 0);
		this.#fail(this.#requests.takeAll(), error);
	}

	#fail(requests: readonly Unanswered[], error: BridgeError): void {
		const fail = this.#final ? unstartable : Envelope.failure;
		for (const {id, origin} of requests) this.incoming.next(fail(id, error, origin));
	}

	async close(): Promise<void> {
		if (this.#isOver) return;
		this.#isOver = true;
		clearTimeout(this.#timer);
		this.#unqueue?.();
		this.#requests.takeAll();
		this.incoming.complete();
		// It is listened to until it has ended: an output that nobody reads is held to be full, and its end is waited for.
		await this.#endpoint?.close();
		this.#heard?.unsubscribe();
	}
}
