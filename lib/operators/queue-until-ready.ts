import {performance} from 'node:perf_hooks';
import {Envelope} from '../core/envelope.js';
import type {Log} from '../core/log.js';
import {QueuedMessages} from '../core/requests/queued.js';
import {type Emit, type Stage, type StageOutputs, type StageSteps, stage} from '../core/stage.js';
import {logConnection} from '../protocol/connection-log.js';
import {initializeError} from '../protocol/initialize-error.js';
import type {Negotiation} from '../protocol/negotiation.js';
import {isStatelessRequest, requestMetaError, requestMetaOf} from '../protocol/v2026-07-28.js';
import {clientVersionFor, NEWEST_HANDSHAKE, STATELESS} from '../protocol/version.js';
import {type JsonObject, objectOf, toText} from '../util/json.js';
import {truncated} from '../util/truncate.js';
import {memberText} from '../wire/member.js';

type QueueUntilReadyOptions = {
	readonly negotiation: Negotiation;
	readonly log: Log;
	readonly transport: string;
	/** Time to wait for the client's `initialize` after another request. */
	readonly graceMs?: number;
};

/** Long enough for clients that send initialize late, short for those that never send it. */
const GRACE_MS = 100;
/** Bytes of notifications before the handshake. At the limit, bridge initializes the upstream itself. */
const MAX_EARLY_NOTIFICATION_BYTES = 64 * 2 ** 10;

/**
 * Queues messages until the upstream is initialized. The upstream gets initialize and
 * `notifications/initialized`, and then the queued messages in their order.
 *
 * If the client is stateless or omits initialize, bridge sends it.
 */
export function queueUntilReady(options: QueueUntilReadyOptions): Stage {
	return stage(out => new ReadyQueue(options, out));
}

const INITIALIZED_TEXT = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

class ReadyQueue implements StageSteps {
	readonly #negotiation: Negotiation;
	readonly #log: Log;
	readonly #transport: string;
	readonly #graceMs: number;
	readonly #out: StageOutputs;
	readonly #queued = new QueuedMessages();
	/** The pending `initialize`, and whether bridge sent it itself. */
	#pendingInitialize: {readonly key: string; readonly isOwn: boolean; readonly since: number} | undefined;
	/** The client's `notifications/initialized`, if it came before the response to initialize. */
	#earlyInitialized: Envelope | undefined;
	#graceTimer: NodeJS.Timeout | undefined;
	#onFlushed: (() => void) | undefined;

	constructor({negotiation, log, transport, graceMs = GRACE_MS}: QueueUntilReadyOptions, out: StageOutputs) {
		this.#negotiation = negotiation;
		this.#log = log;
		this.#transport = transport;
		this.#graceMs = graceMs;
		this.#out = out;
		negotiation.reportReinitialized = (result, durationMs) =>
			logConnection(negotiation, log, {transport, result, durationMs});
	}

	readonly toUpstream = (envelope: Envelope, reply: Emit): Envelope | undefined => {
		const {id, method} = envelope.head;
		if (method === undefined) return envelope;
		if (method === 'initialize' && id !== undefined) return this.#initialize(envelope, reply);
		if (method === 'notifications/initialized') return this.#initialized(envelope);
		if (this.#negotiation.isReady) return envelope;
		if (method === 'ping' && id !== undefined) reply(Envelope.response(id, 'result', {}, envelope.origin));
		else if (method === 'notifications/cancelled') this.#cancel(envelope);
		else this.#queue(envelope, reply);
		return;
	};

	readonly toClient = (envelope: Envelope): Envelope | undefined => {
		const {key, method, hasError} = envelope.head;
		const pending = this.#pendingInitialize;
		if (!pending || method !== undefined || key !== pending.key) return envelope;
		this.#pendingInitialize = undefined;
		// The client gets this response before those to its queued requests.
		if (!pending.isOwn) this.#out.toClient(envelope);
		if (hasError) this.#initializeFailed(envelope);
		else this.#initializeSucceeded(objectOf(envelope.body.result), pending);
		return;
	};

	readonly upstreamClosed = (): void => this.#stop();
	readonly teardown = (): void => this.#stop();

	/** Delays the end of the client until its queued messages are sent. */
	readonly clientEnded = (done: () => void): void => {
		if (this.#queued.isEmpty && !this.#pendingInitialize) {
			done();
			return;
		}
		this.#onFlushed = done;
		clearTimeout(this.#graceTimer);
		if (!this.#pendingInitialize) this.#sendInitialize();
	};

	/** Forwards initialize. For an initialized upstream, `rewriteVersion` replies with the stored result. */
	#initialize(envelope: Envelope, reply: Emit): Envelope | undefined {
		if (this.#pendingInitialize) return this.#queue(envelope, reply);
		const {protocolVersion, clientInfo, capabilities} = objectOf(envelope.body.params);
		const {clientVersion} = this.#negotiation.options;
		const description = {info: objectOf(clientInfo), capabilities: objectOf(capabilities)};
		this.#negotiation.setClient(clientVersionFor(protocolVersion, clientVersion), description);
		if (this.#negotiation.initializeResult !== undefined) return envelope;
		this.#graceTimer = void clearTimeout(this.#graceTimer);
		this.#pendingInitialize = {key: envelope.head.key ?? '', isOwn: false, since: performance.now()};
		return envelope;
	}

	/** Forwards the client's notification, unless bridge has sent its own already. */
	#initialized(envelope: Envelope): Envelope | undefined {
		if (this.#negotiation.isReady) {
			this.#negotiation.completeHandshake(true);
			// `statelessUpstream` opens the client's listen stream on this notification.
			return this.#negotiation.upstreamVersion === STATELESS ? envelope : undefined;
		}
		if (this.#negotiation.initializeResult === undefined) {
			this.#earlyInitialized = envelope;
			return;
		}
		this.#completeHandshake(true);
		return envelope;
	}

	#queue(envelope: Envelope, reply: Emit): undefined {
		const {id} = envelope.head;
		const isRequest = id !== undefined;
		if (this.#negotiation.initializeResult !== undefined) {
			// The client has omitted notifications/initialized.
			this.#out.toUpstream(Envelope.fromText(INITIALIZED_TEXT));
			this.#completeHandshake(false);
			this.#out.toUpstream(envelope);
			return;
		}
		const params = isRequest ? statelessParams(envelope) : undefined;
		const metaError = params && requestMetaError(params);
		if (metaError && isRequest) {
			reply(Envelope.response(id, 'error', metaError, envelope.origin));
			return;
		}
		this.#queued.add(envelope);
		if (this.#pendingInitialize || this.#graceTimer) return;
		if (params) this.#beginStateless(params);
		// A full queue pauses the client, so that its initialize would never be read.
		else if (this.#queued.isFull) this.#sendInitialize();
		else if (isRequest) this.#graceTimer = setTimeout(() => this.#sendInitialize(), this.#graceMs);
		else if (this.#queued.bytes > MAX_EARLY_NOTIFICATION_BYTES) this.#sendInitialize();
	}

	#beginStateless(params: JsonObject): void {
		this.#negotiation.setClient(STATELESS, requestMetaOf(params));
		this.#sendInitialize();
	}

	#sendInitialize(): void {
		this.#graceTimer = undefined;
		if (this.#negotiation.clientVersion === undefined) this.#negotiation.setClient(NEWEST_HANDSHAKE);
		const {clientInfo, clientCapabilities: capabilities} = this.#negotiation;
		const id = this.#negotiation.nextRequestId();
		this.#pendingInitialize = {key: JSON.stringify(id), isOwn: true, since: performance.now()};
		const params = {protocolVersion: NEWEST_HANDSHAKE, capabilities, clientInfo};
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method: 'initialize', params}));
	}

	#initializeSucceeded(
		result: JsonObject,
		{isOwn, since}: {readonly isOwn: boolean; readonly since: number},
	): void {
		this.#negotiation.initializeResult = result;
		const durationMs = performance.now() - since;
		logConnection(this.#negotiation, this.#log, {transport: this.#transport, result, durationMs});
		if (isOwn || !this.#queued.isEmpty || this.#earlyInitialized) {
			this.#out.toUpstream(this.#earlyInitialized ?? Envelope.fromText(INITIALIZED_TEXT));
			// The stage stays active until it has dropped the client's own notification.
			const isFinal = this.#earlyInitialized !== undefined || this.#negotiation.clientVersion === STATELESS;
			this.#earlyInitialized = undefined;
			this.#completeHandshake(isFinal);
		}
		this.#reportFlushed();
	}

	#completeHandshake(isFinal: boolean): void {
		this.#negotiation.completeHandshake(isFinal);
		for (const envelope of this.#queued.drain()) this.#release(envelope);
	}

	#release(envelope: Envelope): void {
		const forwarded = this.toUpstream(envelope, reply => this.#out.toClient(reply));
		if (forwarded) this.#out.toUpstream(forwarded);
	}

	/** Fails all queued requests. The next initialize is a new attempt. */
	#initializeFailed({body: {error}}: Envelope): void {
		const {upstream} = this.#negotiation.options;
		const rpcError = initializeError(upstream, error);
		this.#log.warn('proxy.handshake.failed', truncated(toText(rpcError.message)), {server: upstream});
		this.#negotiation.setClient(undefined);
		this.#earlyInitialized = undefined;
		for (const {head, origin} of this.#queued.drain())
			if (head.id !== undefined) this.#out.toClient(Envelope.response(head.id, 'error', rpcError, origin));
		this.#reportFlushed();
	}

	#reportFlushed(): void {
		this.#onFlushed?.();
		this.#onFlushed = undefined;
	}

	/** Removes a cancelled request from the queue. The protocol forbids cancelling `initialize`. */
	#cancel(envelope: Envelope): void {
		const id = memberText(envelope.bytes, 'params', 'requestId');
		if (id !== undefined) this.#queued.remove(id);
	}

	#stop(): void {
		clearTimeout(this.#graceTimer);
		this.#queued.drain();
		this.#reportFlushed();
	}
}

/** The params of a stateless request, only with `_meta` to avoid parsing the rest; otherwise undefined. */
function statelessParams({head: {method}, bytes}: Envelope): JsonObject | undefined {
	const meta = memberText(bytes, 'params', '_meta');
	const params = meta === undefined ? {} : {_meta: JSON.parse(meta) as unknown};
	return isStatelessRequest(method, params) ? params : undefined;
}
