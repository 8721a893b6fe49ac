import {performance} from 'node:perf_hooks';
import type {Subscription} from 'rxjs';
import {nextPauseMs} from '../back-off.js';
import {Channel} from '../channel.js';
import {Envelope, type Origin} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {HeldMessages} from '../held-messages.js';
import {listsChanged} from '../lists-changed.js';
import type {Log} from '../log.js';
import {PassingMap} from '../passing-map.js';
import {isObject, type JsonObject} from '../protocol/json.js';
import type {Answer, Endpoint} from '../stage.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import {ended, restarting, unopened, unstartable} from './restarting.js';
import type {Starts} from './starts.js';

export type RevivedOptions = {
	readonly name: string;
	readonly log: Log;
	/** Makes a new connection to the server, or starts it. */
	readonly open: () => Endpoint;
	/** The queue for starts of processes. */
	readonly starts?: Starts;
	/** An id for a request of bridge's own. */
	readonly ownId: () => string;
	/** The server is back, and this is what it answered to a new handshake. */
	readonly onRevived: (result: JsonObject) => void;
	/** What is said to the server when it is back, of what was meant for it before: it may speak another version by now. */
	readonly again?: (envelope: Envelope, answer: Answer) => Envelope | undefined;
	/** The server is gone, for this reason. */
	readonly onLoss: (error: BridgeError) => void;
};

/** How long a server may take to answer a new handshake. */
const GREETING_MS = 60_000;

/**
 * A server that is started again whenever it ends, or connected to again, and shaken hands with as before.
 *
 * What it had not answered by then is answered with the reason: nobody knows how much of it was done. What is said to it
 * meanwhile waits, and so does the first handshake, for which it can only have died of itself.
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
	};
}

class Revived {
	readonly incoming = new Channel();
	readonly #options: RevivedOptions;
	/** The requests that the server has not answered, by their keys. */
	readonly #asked = new PassingMap<string, {readonly id: string; readonly origin: Origin}>();
	readonly #held = new HeldMessages();
	#endpoint: Endpoint | undefined;
	#heard: Subscription | undefined;
	#timer: NodeJS.Timeout | undefined;
	/** Removes the next start from the queue. */
	#unqueue: (() => void) | undefined;
	#greeting: Envelope | undefined;
	#completion: Envelope | undefined;
	/** The key of the handshake that is under way. */
	#greetingKey: string | undefined;
	/** Whether the client's own handshake was answered. */
	#isGreeted = false;
	#isReady = false;
	#isOver = false;
	/** Why it is not even tried again. */
	#final: BridgeError | undefined;
	#pauseMs: number | undefined;
	#upSince = 0;

	constructor(options: RevivedOptions) {
		this.#options = options;
	}

	start(): void {
		const {starts} = this.#options;
		if (starts) this.#unqueue = starts.add(() => this.#start());
		else this.#start();
	}

	#start(): void {
		this.#upSince = performance.now();
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
		if (method === 'notifications/cancelled' && this.#forget(envelope)) return;
		if (method === 'initialize') {
			this.#greeting = envelope;
			this.#isGreeted = false;
		}
		if (method === 'notifications/initialized') this.#completion = envelope;
		if (this.#isReady) this.#pass(envelope);
		else this.#held.add(envelope);
	}

	/** Nobody waits for the answer to a request that was cancelled. Returns whether the server has not heard of it. */
	#forget({bytes}: Envelope): boolean {
		const id = memberText(bytes, 'params', 'requestId');
		if (id === undefined) return false;
		this.#asked.delete(canonicalId(id));
		return this.#held.remove(id);
	}

	#pass(envelope: Envelope): void {
		const {id, key, method} = envelope.head;
		if (id !== undefined && method !== undefined) this.#asked.set(key ?? '', {id, origin: envelope.origin});
		this.#endpoint?.outgoing.next(envelope);
	}

	#hear(envelope: Envelope): void {
		const {key, method, hasError} = envelope.head;
		if (method === undefined && key !== undefined) {
			if (key === this.#greetingKey) {
				this.#greeted(envelope);
				return;
			}
			this.#asked.delete(key);
			if (key === this.#greeting?.head.key && !hasError) this.#isGreeted = true;
		}
		this.incoming.next(envelope);
	}

	#greet(greeting: Envelope): void {
		const id = JSON.stringify(this.#options.ownId());
		this.#greetingKey = canonicalId(id);
		this.#endpoint?.outgoing.next(greeting.withId(id));
		this.#timer = setTimeout(() => void this.#endpoint?.close(), GREETING_MS).unref();
	}

	#greeted(envelope: Envelope): void {
		clearTimeout(this.#timer);
		this.#greetingKey = undefined;
		const result = envelope.head.flaw === undefined ? envelope.body.result : undefined;
		if (!isObject(result)) {
			void this.#endpoint?.close();
			return;
		}
		if (this.#completion) this.#endpoint?.outgoing.next(this.#completion);
		this.#options.onRevived(result);
		this.#ready(this.#options.again);
		for (const notice of listsChanged(result)) this.incoming.next(notice);
	}

	#ready(again: RevivedOptions['again'] = envelope => envelope): void {
		this.#isReady = true;
		for (const held of this.#held.takeAll()) {
			const present = again(held, answer => this.incoming.next(answer));
			if (!present) continue;
			present.headers ??= held.headers;
			this.#pass(present);
		}
	}

	#lost(endpoint: Endpoint | undefined, reason: unknown): void {
		if (this.#isOver || endpoint !== this.#endpoint) return;
		const {name, log, onLoss} = this.#options;
		const error = reason instanceof BridgeError ? reason : ended(name);
		clearTimeout(this.#timer);
		this.#heard?.unsubscribe();
		this.#endpoint = undefined;
		this.#isReady = false;
		this.#greetingKey = undefined;
		onLoss(error);
		if (error.code === 'ERR_COMMAND_UNUSABLE') this.#final = error;
		if (error.code === 'ERR_CHILD_EXITED') this.#keepGreeting();
		const pauseMs = nextPauseMs(this.#pauseMs, performance.now() - this.#upSince);
		this.#failAll(this.#final ?? restarting(error, pauseMs));
		if (this.#final) return;
		this.#pauseMs = pauseMs;
		log.warn('upstream.lost', `${error.message} It is tried again in ${pauseMs / 1000} s.`, {
			server: name,
			pauseMs,
		});
		this.#timer = setTimeout(() => this.start(), pauseMs).unref();
	}

	/** A handshake that was not answered is done with the next one that starts. Nothing else is held at that time. */
	#keepGreeting(): void {
		const greeting = this.#greeting;
		if (greeting && this.#asked.delete(greeting.head.key ?? '')) this.#held.add(greeting);
	}

	#failAll(error: BridgeError): void {
		const asked = [...this.#asked.values()];
		this.#asked.clear();
		const fail = this.#final ? unstartable : Envelope.failure;
		for (const {id, origin} of asked) this.incoming.next(fail(id, error, origin));
		if (!this.#final) return;
		for (const {head, origin} of this.#held.takeAll())
			if (head.id !== undefined && head.method !== undefined)
				this.incoming.next(unstartable(head.id, error, origin));
	}

	async close(): Promise<void> {
		if (this.#isOver) return;
		this.#isOver = true;
		clearTimeout(this.#timer);
		this.#unqueue?.();
		this.#held.takeAll();
		this.incoming.complete();
		// It is listened to until it has ended: an output that nobody reads is held to be full, and its end is waited for.
		await this.#endpoint?.close();
		this.#heard?.unsubscribe();
	}
}
