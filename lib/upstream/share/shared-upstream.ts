import {performance} from 'node:perf_hooks';
import {Envelope} from '../../core/envelope.js';
import type {BridgeError} from '../../core/errors.js';
import {type Log, logBug} from '../../core/log.js';
import type {Endpoint} from '../../core/stage.js';
import type {Version} from '../../protocol/version.js';
import {type BackoffLimits, nextDelayMs, RESTART_LIMITS, withJitter} from '../../util/backoff.js';
import {objectOf} from '../../util/json.js';
import {memberText} from '../../wire/member.js';
import {disconnectRecord, restartingError, shuttingDownError} from '../restart-errors.js';
import {ClientMessageQueue} from './client-message-queue.js';
import {handleClientMessage} from './client-messages.js';
import {ClientMultiplexer} from './client-multiplexer.js';
import {closingError, hasVersionChanged, listChangesBetween} from './initialize-changes.js';
import {SharedClient, type SharedClientOptions} from './shared-client.js';
import {SharedConnection} from './shared-connection.js';
import {handleUpstreamMessage} from './upstream-messages.js';

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
	readonly backoff?: BackoffLimits;
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
const STALL_GRACE_MS = 5000;

/**
 * One server for many clients. Each of them has an endpoint that looks like a server of its own; ids, progress tokens,
 * subscriptions, log levels and the server's questions are kept apart.
 *
 * The server is started when the first client comes, and again when it dies. What was under way then is answered with an
 * error, and never sent twice; what comes meanwhile waits.
 */
export class SharedUpstream {
	readonly #options: SharedUpstreamOptions;
	readonly #multiplexer: ClientMultiplexer;
	readonly #queue = new ClientMessageQueue<SharedClient>();
	readonly #now: () => number;
	#phase: SharedState['phase'] = 'idle';
	#connection: SharedConnection | undefined;
	#version: Version | undefined;
	#lastError: string | undefined;
	#restarts = 0;
	#readyAt = 0;
	#delayMs: number | undefined;
	/** Until the server is started again, or ended because nobody needs it. */
	#timer: NodeJS.Timeout | undefined;

	constructor(options: SharedUpstreamOptions) {
		const {name, log, now = () => performance.now()} = options;
		this.#options = options;
		this.#now = now;
		this.#multiplexer = new ClientMultiplexer({
			name,
			log,
			send: envelope => this.#connection?.send(envelope),
		});
	}

	get state(): SharedState {
		return {
			phase: this.#phase,
			clients: this.#multiplexer.clients.size,
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
	attach(label: string, onReinitialized?: SharedClientOptions['onReinitialized']): Endpoint {
		const {name, log, maxUnreadBytes = MAX_UNREAD_BYTES, graceMs = STALL_GRACE_MS} = this.#options;
		if (this.#phase === 'closed') throw closingError(name);
		const client = new SharedClient({
			upstream: name,
			label,
			log,
			onReinitialized,
			onMessage: (sender, envelope) => this.#onClientMessage(sender, envelope),
			hasPending: one => this.#multiplexer.pending.has(one) || this.#queue.has(one),
			onLeft: one => this.#onClientLeft(one),
			maxBytes: maxUnreadBytes,
			graceMs,
		});
		this.#multiplexer.clients.add(client);
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
		for (const client of [...this.#multiplexer.clients]) client.end();
		await connection?.close();
	}

	#start(): void {
		const {name, log, open, targetVersion, timeoutMs, timeoutSetting} = this.#options;
		this.#phase = 'connecting';
		this.#connection = new SharedConnection({
			name,
			log,
			open,
			targetVersion,
			timeoutMs,
			timeoutSetting,
			clientOf: key => this.#multiplexer.pending.clientOf(key),
			onReady: (...ready) => this.#onReady(...ready),
			onMessage: envelope => this.#onUpstreamMessage(envelope),
			onClosed: error => this.#onConnectionClosed(error),
		});
		this.#connection.start();
	}

	/** What nobody has foreseen of one message ends nobody else's conversation. */
	#onUpstreamMessage(envelope: Envelope): void {
		try {
			handleUpstreamMessage(this.#multiplexer, envelope);
		} catch (error) {
			logBug(this.#options.log, error);
		}
	}

	#onClientMessage(client: SharedClient, envelope: Envelope): void {
		if (this.#phase === 'ready') handleClientMessage(this.#multiplexer, client, envelope);
		else this.#enqueue(client, envelope);
	}

	/** Nothing was asked, and so nothing can be answered or given up but what waits here. */
	#enqueue(client: SharedClient, envelope: Envelope): void {
		const {method} = envelope.head;
		if (method === 'notifications/cancelled') {
			const id = memberText(envelope.bytes, 'params', 'requestId');
			if (id !== undefined) this.#queue.cancel(client, id);
		} else if (method === 'notifications/initialized') client.isInitialized = true;
		else if (method !== undefined) this.#queue.add(client, envelope);
		// Clients give up a handshake long before the longest pause is over.
		if (method === 'initialize' && this.#phase === 'failed') this.#scheduleRestart(0);
	}

	#onReady(result: string, version: Version, durationMs: number): void {
		const {name, log} = this.#options;
		const multiplexer = this.#multiplexer;
		const previousResult = multiplexer.initializeResult;
		this.#phase = 'ready';
		this.#version = version;
		this.#readyAt = this.#now();
		multiplexer.initializeResult = result;
		log.info('shared.ready', `${name} is ready for all of its clients.`, {server: name, version});
		if (hasVersionChanged(previousResult, result))
			for (const client of [...multiplexer.clients])
				if (client.hasInitializeResult) client.reinitialize(objectOf(JSON.parse(result)), durationMs);
		for (const notification of listChangesBetween(previousResult, result))
			multiplexer.broadcast(notification);
		multiplexer.onUpstreamReady();
		for (const {client, envelope} of this.#queue.takeAll()) client.outgoing.next(envelope);
		this.#closeIfUnused();
	}

	#onConnectionClosed(error: BridgeError): void {
		const {name, log, isDraining, backoff = RESTART_LIMITS} = this.#options;
		const wasReady = this.#phase === 'ready';
		this.#delayMs = nextDelayMs(this.#delayMs, wasReady ? this.#now() - this.#readyAt : 0, backoff);
		const delayMs = withJitter(this.#delayMs);
		this.#connection = undefined;
		this.#phase = 'failed';
		this.#lastError = error.reason;
		log.warn('shared.gone', ...disconnectRecord(name, error, isDraining?.() ? undefined : delayMs));
		this.#scheduleRestart(delayMs);
		// Before the handshake, no client has sent anything that its stderr could be about.
		const reason = wasReady ? restartingError(error, delayMs, true) : error;
		this.#multiplexer.onUpstreamClosed(reason);
		this.#rejectQueued(reason);
	}

	#scheduleRestart(delayMs: number): void {
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => this.#restart(), delayMs).unref();
	}

	/** What waited for this attempt does not wait for the next one. */
	#rejectQueued(reason: BridgeError): void {
		for (const {client, envelope} of this.#queue.takeAll())
			if (envelope.head.id !== undefined)
				client.send(Envelope.errorResponse(envelope.head.id, reason, client.origin));
	}

	/** Without clients, the next one starts it. */
	#restart(): void {
		const {isDraining, name} = this.#options;
		if (this.#multiplexer.clients.size === 0) {
			this.#closeConnection();
			return;
		}
		if (isDraining?.()) {
			this.#rejectQueued(shuttingDownError(name));
			this.#scheduleRestart(RESTART_LIMITS.firstMs);
			return;
		}
		this.#restarts++;
		this.#start();
	}

	#onClientLeft(client: SharedClient): void {
		const isReady = this.#phase === 'ready';
		this.#queue.removeClient(client);
		this.#multiplexer.removeClient(client, isReady);
		if (isReady) this.#closeIfUnused();
	}

	/** A server that nobody needs is ended, in time. */
	#closeIfUnused(): void {
		const {name, log, idleMs = IDLE_MS} = this.#options;
		if (this.#multiplexer.clients.size > 0) return;
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => {
			log.info('shared.idle', `${name} is ended, since nobody needs it.`, {server: name});
			this.#closeConnection();
		}, idleMs).unref();
	}

	#closeConnection(): void {
		const connection = this.#connection;
		this.#connection = undefined;
		this.#phase = 'idle';
		this.#version = undefined;
		connection?.close().catch(error => logBug(this.#options.log, error));
	}
}
