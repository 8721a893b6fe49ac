import {performance} from 'node:perf_hooks';
import {brief} from '../brief.js';
import {Envelope} from '../envelope.js';
import {HeldMessages} from '../held-messages.js';
import type {Log} from '../log.js';
import {type JsonObject, objectOf, worded} from '../protocol/json.js';
import {notInitialized} from '../protocol/not-initialized.js';
import {tellOfConnection} from '../protocol/report.js';
import type {Session} from '../protocol/session.js';
import {callerOf, envelopeProblem, isModernRequest} from '../protocol/v2026-07-28.js';
import {MODERN, NEWEST_HANDSHAKE, toldTo} from '../protocol/version.js';
import {type Answer, type Outlets, type Stage, type Steps, stage} from '../stage.js';
import {memberText} from '../wire/member.js';

export type HoldUntilReadyOptions = {
	readonly session: Session;
	readonly log: Log;
	/** How the upstream is reached, for people. */
	readonly transport: string;
	/** How long a client may take to initialize after it has asked for something else. */
	readonly graceMs?: number;
};

/** A client that means to initialize, if late, has done so by then; one that never does need not wait longer. */
const GRACE_MS = 100;
/** Bytes of notifications that wait for a handshake that may never begin: over that, bridge begins it. */
const MAX_EARLY_BYTES = 64 * 2 ** 10;

/**
 * Lets nothing reach an upstream before it has been initialized: initialize, its answer, `notifications/initialized`,
 * and only then anything else, in the order in which it came.
 *
 * Where the client does not shake hands, because it is of the era without or because it does not care, bridge does.
 */
export function holdUntilReady(options: HoldUntilReadyOptions): Stage {
	return stage(out => new Gate(options, out));
}

const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

class Gate implements Steps {
	readonly #session: Session;
	readonly #log: Log;
	readonly #transport: string;
	readonly #graceMs: number;
	readonly #out: Outlets;
	readonly #held = new HeldMessages();
	/** The key of the `initialize` that is on its way, and whether it is bridge's own. */
	#asked: {readonly key: string; readonly isOwn: boolean; readonly since: number} | undefined;
	/** The client's `notifications/initialized`, if it came before there was an answer. */
	#early: Envelope | undefined;
	#grace: NodeJS.Timeout | undefined;
	#done: (() => void) | undefined;

	constructor({session, log, transport, graceMs = GRACE_MS}: HoldUntilReadyOptions, out: Outlets) {
		this.#session = session;
		this.#log = log;
		this.#transport = transport;
		this.#graceMs = graceMs;
		this.#out = out;
		session.reportRenewal = (result, durationMs) =>
			tellOfConnection(session, log, {transport, result, durationMs});
	}

	readonly toUpstream = (envelope: Envelope, answer: Answer): Envelope | undefined => {
		const {id, method} = envelope.head;
		if (method === undefined) return envelope;
		if (method === 'initialize' && id !== undefined) return this.#initialize(envelope, answer);
		if (method === 'notifications/initialized') return this.#initialized(envelope);
		if (this.#session.isReady) return envelope;
		if (method === 'ping' && id !== undefined) answer(Envelope.answer(id, 'result', {}, envelope.origin));
		else if (method === 'notifications/cancelled') this.#cancel(envelope);
		else this.#hold(envelope, answer);
		return;
	};

	readonly toClient = (envelope: Envelope): Envelope | undefined => {
		const {key, method, hasError} = envelope.head;
		const asked = this.#asked;
		if (!asked || method !== undefined || key !== asked.key) return envelope;
		this.#asked = undefined;
		// The client hears of it before it hears of anything that waited for it.
		if (!asked.isOwn) this.#out.toClient(envelope);
		if (hasError) this.#failed(envelope);
		else this.#answered(objectOf(envelope.body.result), asked);
		return;
	};

	readonly upstreamGone = (): void => this.#stop();
	readonly stopped = (): void => this.#stop();

	/** A client that says no more has still to be heard, as to what it said. */
	readonly clientDone = (done: () => void): void => {
		if (this.#held.isEmpty && !this.#asked) {
			done();
			return;
		}
		this.#done = done;
		clearTimeout(this.#grace);
		if (!this.#asked) this.#shakeHands();
	};

	/** An upstream that has been initialized is not asked again: the stage that has its answer gives that once more. */
	#initialize(envelope: Envelope, answer: Answer): Envelope | undefined {
		if (this.#asked) return this.#hold(envelope, answer);
		const {protocolVersion, clientInfo, capabilities} = objectOf(envelope.body.params);
		const {clientVersion} = this.#session.options;
		const introduction = {info: objectOf(clientInfo), capabilities: objectOf(capabilities)};
		this.#session.clientBecame(toldTo(protocolVersion, clientVersion), introduction);
		if (this.#session.initializeResult !== undefined) return envelope;
		this.#grace = void clearTimeout(this.#grace);
		this.#asked = {key: envelope.head.key ?? '', isOwn: false, since: performance.now()};
		return envelope;
	}

	/** The client's own is passed on, where bridge has not had to send one before it. */
	#initialized(envelope: Envelope): Envelope | undefined {
		if (this.#session.isReady) {
			this.#session.ready(true);
			// The stage that stands for a modern server listens for the client from then on.
			return this.#session.upstream === MODERN ? envelope : undefined;
		}
		if (this.#session.initializeResult === undefined) {
			this.#early = envelope;
			return;
		}
		this.#ready(true);
		return envelope;
	}

	#hold(envelope: Envelope, answer: Answer): undefined {
		const {id} = envelope.head;
		const isRequest = id !== undefined;
		if (this.#session.initializeResult !== undefined) {
			// The client goes on as if it had said that it is initialized.
			this.#out.toUpstream(Envelope.fromText(INITIALIZED));
			this.#ready(false);
			this.#out.toUpstream(envelope);
			return;
		}
		const params = isRequest ? modernParams(envelope) : undefined;
		const problem = params && envelopeProblem(params);
		if (problem && isRequest) {
			answer(Envelope.answer(id, 'error', problem, envelope.origin));
			return;
		}
		this.#held.add(envelope);
		if (this.#asked || this.#grace) return;
		if (params) this.#introduceModern(params);
		// A client that is held back will not be heard when it initializes.
		else if (this.#held.isFull) this.#shakeHands();
		else if (isRequest) this.#grace = setTimeout(() => this.#shakeHands(), this.#graceMs);
		else if (this.#held.bytes > MAX_EARLY_BYTES) this.#shakeHands();
	}

	#introduceModern(params: JsonObject): void {
		this.#session.clientBecame(MODERN, callerOf(params));
		this.#shakeHands();
	}

	/** Bridge initializes the upstream in the name of the client. */
	#shakeHands(): void {
		this.#grace = undefined;
		if (this.#session.client === undefined) this.#session.clientBecame(NEWEST_HANDSHAKE);
		const {clientInfo, clientCapabilities: capabilities} = this.#session;
		const id = this.#session.ownId();
		this.#asked = {key: JSON.stringify(id), isOwn: true, since: performance.now()};
		const params = {protocolVersion: NEWEST_HANDSHAKE, capabilities, clientInfo};
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method: 'initialize', params}));
	}

	#answered(result: JsonObject, {isOwn, since}: {readonly isOwn: boolean; readonly since: number}): void {
		this.#session.initializeResult = result;
		const durationMs = performance.now() - since;
		tellOfConnection(this.#session, this.#log, {transport: this.#transport, result, durationMs});
		if (isOwn || !this.#held.isEmpty || this.#early) {
			this.#out.toUpstream(this.#early ?? Envelope.fromText(INITIALIZED));
			// As long as the client may say that it is initialized, somebody has to be there to hear it.
			const isOver = this.#early !== undefined || this.#session.client === MODERN;
			this.#early = undefined;
			this.#ready(isOver);
		}
		this.#letGo();
	}

	#ready(isOver: boolean): void {
		this.#session.ready(isOver);
		for (const envelope of this.#held.takeAll()) this.#release(envelope);
	}

	#release(envelope: Envelope): void {
		const onward = this.toUpstream(envelope, answer => this.#out.toClient(answer));
		if (onward) this.#out.toUpstream(onward);
	}

	/** What waited cannot be served. The next initialize tries again. */
	#failed({body: {error}}: Envelope): void {
		const {upstream} = this.#session.options;
		const problem = notInitialized(upstream, error);
		this.#log.warn('proxy.handshake.failed', brief(worded(problem.message)), {server: upstream});
		this.#session.clientBecame(undefined);
		this.#early = undefined;
		for (const {head, origin} of this.#held.takeAll())
			if (head.id !== undefined) this.#out.toClient(Envelope.answer(head.id, 'error', problem, origin));
		this.#letGo();
	}

	/** All that the client said is on its way. */
	#letGo(): void {
		this.#done?.();
		this.#done = undefined;
	}

	/** What nobody waits for any more is not asked. To cancel an `initialize` is forbidden. */
	#cancel(envelope: Envelope): void {
		const id = memberText(envelope.bytes, 'params', 'requestId');
		if (id !== undefined) this.#held.remove(id);
	}

	#stop(): void {
		clearTimeout(this.#grace);
		this.#held.takeAll();
		this.#letGo();
	}
}

/** The client info in the params of a stateless request; undefined for other requests. The rest is not parsed. */
function modernParams({head: {method}, bytes}: Envelope): JsonObject | undefined {
	const meta = memberText(bytes, 'params', '_meta');
	const params = meta === undefined ? {} : {_meta: JSON.parse(meta) as unknown};
	return isModernRequest(method, params) ? params : undefined;
}
