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
	/** How the upstream is reached, for people. */
	readonly transport: string;
	/** How long a client may take to initialize after it has asked for something else. */
	readonly graceMs?: number;
};

/** A client that means to initialize, if late, has done so by then; one that never does need not wait longer. */
const GRACE_MS = 100;
/** Bytes of notifications that wait for a handshake that may never begin: over that, bridge begins it. */
const MAX_EARLY_NOTIFICATION_BYTES = 64 * 2 ** 10;

/**
 * Lets nothing reach an upstream before it has been initialized: initialize, its answer, `notifications/initialized`,
 * and only then anything else, in the order in which it came.
 *
 * Where the client does not shake hands, because it is of the era without or because it does not care, bridge does.
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
	/** The key of the `initialize` that is on its way, and whether it is bridge's own. */
	#pendingInitialize: {readonly key: string; readonly isOwn: boolean; readonly since: number} | undefined;
	/** The client's `notifications/initialized`, if it came before there was an answer. */
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
		// The client hears of it before it hears of anything that waited for it.
		if (!pending.isOwn) this.#out.toClient(envelope);
		if (hasError) this.#initializeFailed(envelope);
		else this.#initializeSucceeded(objectOf(envelope.body.result), pending);
		return;
	};

	readonly upstreamClosed = (): void => this.#stop();
	readonly teardown = (): void => this.#stop();

	/** A client that says no more has still to be heard, as to what it said. */
	readonly clientEnded = (done: () => void): void => {
		if (this.#queued.isEmpty && !this.#pendingInitialize) {
			done();
			return;
		}
		this.#onFlushed = done;
		clearTimeout(this.#graceTimer);
		if (!this.#pendingInitialize) this.#sendInitialize();
	};

	/** An upstream that has been initialized is not asked again: the stage that has its answer gives that once more. */
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

	/** The client's own is passed on, where bridge has not had to send one before it. */
	#initialized(envelope: Envelope): Envelope | undefined {
		if (this.#negotiation.isReady) {
			this.#negotiation.completeHandshake(true);
			// The stage that stands for a modern server listens for the client from then on.
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
			// The client goes on as if it had said that it is initialized.
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
		// A client that is held back will not be heard when it initializes.
		else if (this.#queued.isFull) this.#sendInitialize();
		else if (isRequest) this.#graceTimer = setTimeout(() => this.#sendInitialize(), this.#graceMs);
		else if (this.#queued.bytes > MAX_EARLY_NOTIFICATION_BYTES) this.#sendInitialize();
	}

	#beginStateless(params: JsonObject): void {
		this.#negotiation.setClient(STATELESS, requestMetaOf(params));
		this.#sendInitialize();
	}

	/** Bridge initializes the upstream in the name of the client. */
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
			// As long as the client may say that it is initialized, somebody has to be there to hear it.
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

	/** What waited cannot be served. The next initialize tries again. */
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

	/** All that the client said is on its way. */
	#reportFlushed(): void {
		this.#onFlushed?.();
		this.#onFlushed = undefined;
	}

	/** What nobody waits for any more is not asked. To cancel an `initialize` is forbidden. */
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

/** The client info in the params of a stateless request; undefined for other requests. The rest is not parsed. */
function statelessParams({head: {method}, bytes}: Envelope): JsonObject | undefined {
	const meta = memberText(bytes, 'params', '_meta');
	const params = meta === undefined ? {} : {_meta: JSON.parse(meta) as unknown};
	return isStatelessRequest(method, params) ? params : undefined;
}
