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
	/** Opens a new connection, or starts the process. */
	readonly open: () => Endpoint;
	/** The version to request; by default the newest version with a handshake. */
	readonly targetVersion?: Version | undefined;
	/** Whether bridge is shutting down. Nothing is started then. */
	readonly isDraining?: (() => boolean) | undefined;
	/** Timeout of one handshake attempt, and the setting that changes it. */
	readonly timeoutMs?: number;
	readonly timeoutSetting?: string | undefined;
	/** How long the upstream keeps running without clients. */
	readonly idleMs?: number;
	/** Limits of the backlog of a client that stops reading. */
	readonly maxUnreadBytes?: number;
	readonly graceMs?: number;
	readonly backoff?: BackoffLimits;
	/** A monotonic clock, in milliseconds. */
	readonly now?: () => number;
};

/** The state of a shared upstream, for people. It is idle while it has no clients. */
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
 * One upstream for many clients. Each client has an endpoint that looks like a dedicated upstream. Ids,
 * progress tokens, subscriptions, log levels and server requests are kept separate.
 *
 * The upstream is started with the first client and restarted when it exits. Requests that are pending then
 * fail and are never retried. Messages that arrive during the restart are queued.
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
	/** Timer of the next restart or of the idle shutdown. */
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
	 * Returns an endpoint for one client. Closing it leaves the upstream running for other clients.
	 *
	 * `onReinitialized` is called when a restarted upstream speaks another version. A client without it is
	 * disconnected in that case.
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

	/** A bug in the handling of one message does not affect other conversations. */
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

	/**
	 * Queues a message while the upstream is not ready. Responses are dropped: no server request is pending.
	 */
	#enqueue(client: SharedClient, envelope: Envelope): void {
		const {method} = envelope.head;
		if (method === 'notifications/cancelled') {
			const id = memberText(envelope.bytes, 'params', 'requestId');
			if (id !== undefined) this.#queue.cancel(client, id);
		} else if (method === 'notifications/initialized') client.isInitialized = true;
		else if (method !== undefined) this.#queue.add(client, envelope);
		// Clients time out a handshake long before the longest delay has passed.
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
		// Before the handshake, no client has sent anything that could appear on stderr.
		const reason = wasReady ? restartingError(error, delayMs, true) : error;
		this.#multiplexer.onUpstreamClosed(reason);
		this.#rejectQueued(reason);
	}

	#scheduleRestart(delayMs: number): void {
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => this.#restart(), delayMs).unref();
	}

	/** Fails the messages that were queued for this attempt. */
	#rejectQueued(reason: BridgeError): void {
		for (const {client, envelope} of this.#queue.takeAll())
			if (envelope.head.id !== undefined)
				client.send(Envelope.errorResponse(envelope.head.id, reason, client.origin));
	}

	/** Restarts the upstream, unless it has no clients. Then the next client starts it. */
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

	/** Closes the upstream after `idleMs` without clients. */
	#closeIfUnused(): void {
		const {name, log, idleMs = IDLE_MS} = this.#options;
		if (this.#multiplexer.clients.size > 0) return;
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => {
			log.info('shared.idle', `${name} is stopped because it has no clients.`, {server: name});
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
