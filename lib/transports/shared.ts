import {performance} from 'node:perf_hooks';
import {type BackOffLimits, jittered, nextPauseMs, RESTART_LIMITS} from '../back-off.js';
import {Envelope} from '../envelope.js';
import type {BridgeError} from '../errors.js';
import {type Log, logBug} from '../log.js';
import {objectOf} from '../protocol/json.js';
import type {Version} from '../protocol/version.js';
import type {Endpoint} from '../stage.js';
import {memberText} from '../wire/member.js';
import {lossRecord, restarting, shuttingDown} from './restarting.js';
import {SharedClient, type SharedClientOptions} from './shared/client.js';
import {Connection} from './shared/connection.js';
import {Exchange} from './shared/exchange.js';
import {fromClient} from './shared/from-client.js';
import {fromServer} from './shared/from-server.js';
import {Held} from './shared/held.js';
import {closing, listChanges, speaksAnother} from './shared/notices.js';

export type SharedUpstreamOptions = {
	readonly name: string;
	readonly log: Log;
	/** Makes a fresh connection to the server: starts it, where it is a child. */
	readonly open: () => Endpoint;
	/** What the server is asked for; without it, the newest version with a handshake. */
	readonly targetVersion?: Version | undefined;
	/** Whether bridge is about to end, so that the server is not started any more. */
	readonly isDraining?: (() => boolean) | undefined;
	/** How long the server may take for one attempt at the handshake, and what raises that. */
	readonly timeoutMs?: number;
	readonly timeoutSetting?: string | undefined;
	/** How long it stays when the last client has left. */
	readonly idleMs?: number;
	/** How much may wait for a client that does not read, and for how long. */
	readonly maxUnreadBytes?: number;
	readonly graceMs?: number;
	/** How long to wait before it is started again. */
	readonly backOff?: BackOffLimits;
	/** Monotonic, in milliseconds. */
	readonly now?: () => number;
};

/** How a shared server is, for people. It is idle as long as nobody needs it. */
export type SharedState = {
	readonly phase: 'idle' | 'connecting' | 'ready' | 'failed' | 'closed';
	readonly clients: number;
	readonly restarts: number;
	readonly lastError: string | undefined;
	readonly version: Version | undefined;
};

const IDLE_MS = 60_000;
const MAX_UNREAD_BYTES = 8 * 2 ** 20;
const GRACE_MS = 5000;

/**
 * One server for many clients. Each of them has an endpoint that looks like a server of its own; ids, progress tokens,
 * subscriptions, log levels and the server's questions are kept apart.
 *
 * The server is started when the first client comes, and again when it dies. What was under way then is answered with an
 * error, and never sent twice; what comes meanwhile waits.
 */
export class SharedUpstream {
	readonly #options: SharedUpstreamOptions;
	readonly #exchange: Exchange;
	readonly #held = new Held<SharedClient>();
	readonly #now: () => number;
	#phase: SharedState['phase'] = 'idle';
	#connection: Connection | undefined;
	#version: Version | undefined;
	#lastError: string | undefined;
	#restarts = 0;
	#readyAt = 0;
	#pauseMs: number | undefined;
	/** Until the server is started again, or ended because nobody needs it. */
	#timer: NodeJS.Timeout | undefined;

	constructor(options: SharedUpstreamOptions) {
		const {name, log, now = () => performance.now()} = options;
		this.#options = options;
		this.#now = now;
		this.#exchange = new Exchange({name, log, tell: envelope => this.#connection?.say(envelope)});
	}

	get state(): SharedState {
		return {
			phase: this.#phase,
			clients: this.#exchange.clients.size,
			restarts: this.#restarts,
			lastError: this.#lastError,
			version: this.#version,
		};
	}

	/**
	 * An endpoint that looks like a server of one client's own. Closing it leaves the server running for the others.
	 *
	 * `onRenewed` is told what the server says of itself when it was started again and speaks another version. Who does not
	 * listen to that is ended then.
	 */
	attach(label: string, onRenewed?: SharedClientOptions['onRenewed']): Endpoint {
		const {name, log, maxUnreadBytes = MAX_UNREAD_BYTES, graceMs = GRACE_MS} = this.#options;
		if (this.#phase === 'closed') throw closing(name);
		const client = new SharedClient({
			server: name,
			label,
			log,
			onRenewed,
			say: (from, envelope) => this.#say(from, envelope),
			isWaiting: one => this.#exchange.inFlight.has(one) || this.#held.has(one),
			left: one => this.#left(one),
			maxBytes: maxUnreadBytes,
			graceMs,
		});
		this.#exchange.clients.add(client);
		if (this.#phase === 'ready') clearTimeout(this.#timer);
		else if (this.#phase === 'idle') this.#start();
		return client;
	}

	/** Ends the server and the conversations of all clients. */
	async close(): Promise<void> {
		clearTimeout(this.#timer);
		this.#phase = 'closed';
		const connection = this.#connection;
		this.#connection = undefined;
		for (const client of [...this.#exchange.clients]) client.end();
		await connection?.close();
	}

	#start(): void {
		const {name, log, open, targetVersion, timeoutMs, timeoutSetting} = this.#options;
		this.#phase = 'connecting';
		this.#connection = new Connection({
			name,
			log,
			open,
			targetVersion,
			timeoutMs,
			timeoutSetting,
			askedBy: key => this.#exchange.inFlight.clientOf(key),
			onReady: (...ready) => this.#ready(...ready),
			onMessage: envelope => this.#hear(envelope),
			onGone: error => this.#gone(error),
		});
		this.#connection.start();
	}

	/** What nobody has foreseen of one message ends nobody else's conversation. */
	#hear(envelope: Envelope): void {
		try {
			fromServer(this.#exchange, envelope);
		} catch (error) {
			logBug(this.#options.log, error);
		}
	}

	#say(client: SharedClient, envelope: Envelope): void {
		if (this.#phase === 'ready') fromClient(this.#exchange, client, envelope);
		else this.#hold(client, envelope);
	}

	/** Nothing was asked, and so nothing can be answered or given up but what waits here. */
	#hold(client: SharedClient, envelope: Envelope): void {
		const {method} = envelope.head;
		if (method === 'notifications/cancelled') {
			const id = memberText(envelope.bytes, 'params', 'requestId');
			if (id !== undefined) this.#held.cancel(client, id);
		} else if (method === 'notifications/initialized') client.isInitialized = true;
		else if (method !== undefined) this.#held.add(client, envelope);
		// Clients give up a handshake long before the longest pause is over.
		if (method === 'initialize' && this.#phase === 'failed') this.#later(0);
	}

	#ready(result: string, version: Version, durationMs: number): void {
		const {name, log} = this.#options;
		const exchange = this.#exchange;
		const before = exchange.greeting;
		this.#phase = 'ready';
		this.#version = version;
		this.#readyAt = this.#now();
		exchange.greeting = result;
		log.info('shared.ready', `${name} is ready for all of its clients.`, {server: name, version});
		if (speaksAnother(before, result))
			for (const client of [...exchange.clients])
				if (client.isGreeted) client.renew(objectOf(JSON.parse(result)), durationMs);
		for (const notice of listChanges(before, result)) exchange.tellAll(notice);
		exchange.serverBack();
		for (const {client, envelope} of this.#held.takeAll()) client.outgoing.next(envelope);
		this.#expectClients();
	}

	#gone(error: BridgeError): void {
		const {name, log, isDraining, backOff = RESTART_LIMITS} = this.#options;
		const wasReady = this.#phase === 'ready';
		this.#pauseMs = nextPauseMs(this.#pauseMs, wasReady ? this.#now() - this.#readyAt : 0, backOff);
		const pauseMs = jittered(this.#pauseMs);
		this.#connection = undefined;
		this.#phase = 'failed';
		this.#lastError = error.reason;
		log.warn('shared.gone', ...lossRecord(name, error, isDraining?.() ? undefined : pauseMs));
		this.#later(pauseMs);
		// Before the handshake, no client has sent anything that its stderr could be about.
		const reason = wasReady ? restarting(error, pauseMs, true) : error;
		this.#exchange.serverGone(reason);
		this.#failHeld(reason);
	}

	#later(pauseMs: number): void {
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => this.#again(), pauseMs).unref();
	}

	/** What waited for this attempt does not wait for the next one. */
	#failHeld(reason: BridgeError): void {
		for (const {client, envelope} of this.#held.takeAll())
			if (envelope.head.id !== undefined)
				client.hear(Envelope.failure(envelope.head.id, reason, client.origin));
	}

	/** Without clients, the next one starts it. */
	#again(): void {
		const {isDraining, name} = this.#options;
		if (this.#exchange.clients.size === 0) {
			this.#idle();
			return;
		}
		if (isDraining?.()) {
			this.#failHeld(shuttingDown(name));
			this.#later(RESTART_LIMITS.firstMs);
			return;
		}
		this.#restarts++;
		this.#start();
	}

	#left(client: SharedClient): void {
		const isReady = this.#phase === 'ready';
		this.#held.leave(client);
		this.#exchange.left(client, isReady);
		if (isReady) this.#expectClients();
	}

	/** A server that nobody needs is ended, in time. */
	#expectClients(): void {
		const {name, log, idleMs = IDLE_MS} = this.#options;
		if (this.#exchange.clients.size > 0) return;
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => {
			log.info('shared.idle', `${name} is ended, since nobody needs it.`, {server: name});
			this.#idle();
		}, idleMs).unref();
	}

	#idle(): void {
		const connection = this.#connection;
		this.#connection = undefined;
		this.#phase = 'idle';
		this.#version = undefined;
		connection?.close().catch(error => logBug(this.#options.log, error));
	}
}
