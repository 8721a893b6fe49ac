import {Envelope} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {HeldMessages} from '../held-messages.js';
import type {Log} from '../log.js';
import {objectOf} from '../protocol/json.js';
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
	#asked: {readonly key: string; readonly isOwn: boolean} | undefined;
	/** Whether `notifications/initialized` may still come from the client, which must not reach the upstream twice. */
	#mayComeTwice = true;
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
	}

	readonly toUpstream = (envelope: Envelope, answer: Answer): Envelope | undefined => {
		const {id, method} = envelope.head;
		if (method === undefined) return envelope;
		if (method === 'initialize' && id !== undefined) return this.#initialize(envelope, id, answer);
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
		if (hasError) this.#failed(envelope);
		else this.#answered(objectOf(envelope.body.result), asked.isOwn);
		return asked.isOwn ? undefined : envelope;
	};

	readonly upstreamGone = (): void => this.#stop();
	readonly stopped = (): void => this.#stop();

	/** A client that says no more has still to be heard, as to what it said. */
	readonly clientDone = (done: () => void): void => {
		if (this.#held.isEmpty) {
			done();
			return;
		}
		this.#done = done;
		clearTimeout(this.#grace);
		if (!this.#asked) this.#shakeHands();
	};

	#initialize(envelope: Envelope, id: string, answer: Answer): Envelope | undefined {
		const {initializeResult: result} = this.#session;
		if (this.#asked) return this.#hold(envelope, answer);
		if (result === undefined) {
			this.#grace = void clearTimeout(this.#grace);
			this.#introduce(envelope);
			this.#asked = {key: envelope.head.key ?? '', isOwn: false};
			return envelope;
		}
		// Bridge has done it already: the upstream must not be asked twice.
		this.#introduce(envelope);
		const told = toldTo(objectOf(envelope.body.params).protocolVersion, this.#session.options.clientVersion);
		this.#session.client = told;
		answer(Envelope.answer(id, 'result', {...result, protocolVersion: told}, envelope.origin));
		return;
	}

	#introduce({body: {params}}: Envelope): void {
		const {clientInfo, capabilities} = objectOf(params);
		this.#session.clientInfo = objectOf(clientInfo);
		this.#session.clientCapabilities = objectOf(capabilities);
	}

	/** The client's own is passed on, where bridge has not had to send one before it. */
	#initialized(envelope: Envelope): Envelope | undefined {
		if (this.#session.isReady) {
			this.#mayComeTwice = false;
			this.#session.settle();
			return;
		}
		if (this.#session.initializeResult === undefined) {
			this.#early = envelope;
			return;
		}
		this.#mayComeTwice = false;
		this.#ready();
		return envelope;
	}

	#hold(envelope: Envelope, answer: Answer): undefined {
		const {id, method} = envelope.head;
		const isRequest = id !== undefined;
		if (this.#session.initializeResult !== undefined) {
			// The client goes on as if it had said that it is initialized.
			this.#out.toUpstream(Envelope.fromText(INITIALIZED));
			this.#ready();
			this.#out.toUpstream(envelope);
			return;
		}
		const isModern = isRequest && isModernRequest(method, envelope.body.params);
		const problem = isModern ? envelopeProblem(envelope.body.params) : undefined;
		if (problem && isRequest) {
			answer(Envelope.answer(id, 'error', problem, envelope.origin));
			return;
		}
		this.#held.add(envelope);
		if (this.#asked || this.#grace) return;
		if (isModern) this.#introduceModern(envelope);
		// A client that is held back will not be heard when it initializes.
		else if (this.#held.isFull) this.#shakeHands();
		else if (isRequest) this.#grace = setTimeout(() => this.#shakeHands(), this.#graceMs);
	}

	#introduceModern(envelope: Envelope): void {
		const {info, capabilities} = callerOf(envelope.body.params);
		this.#session.client = MODERN;
		this.#session.clientInfo = info;
		this.#session.clientCapabilities = capabilities;
		this.#shakeHands();
	}

	/** Bridge initializes the upstream in the name of the client. */
	#shakeHands(): void {
		const {clientInfo, clientCapabilities: capabilities} = this.#session;
		this.#grace = undefined;
		this.#session.client ??= NEWEST_HANDSHAKE;
		const id = this.#session.ownId();
		this.#asked = {key: JSON.stringify(id), isOwn: true};
		const params = {protocolVersion: NEWEST_HANDSHAKE, capabilities, clientInfo};
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method: 'initialize', params}));
	}

	#answered(result: {readonly [key: string]: unknown}, isOwn: boolean): void {
		this.#session.initializeResult = result;
		tellOfConnection(this.#session, this.#log, this.#transport);
		if (!isOwn && this.#held.isEmpty && !this.#early) return;
		this.#mayComeTwice = this.#early === undefined;
		this.#out.toUpstream(this.#early ?? Envelope.fromText(INITIALIZED));
		this.#ready();
	}

	#ready(): void {
		const {client} = this.#session;
		this.#session.isReady = true;
		// As long as the client may say that it is initialized, somebody has to be there to hear it.
		if (!this.#mayComeTwice || client === MODERN) this.#session.settle();
		for (const envelope of this.#held.takeAll()) this.#release(envelope);
		this.#done?.();
		this.#done = undefined;
	}

	#release(envelope: Envelope): void {
		const onward = this.toUpstream(envelope, answer => this.#out.toClient(answer));
		if (onward) this.#out.toUpstream(onward);
	}

	/** What waited cannot be served; whoever asks next may try again. */
	#failed({body: {error}}: Envelope): void {
		const {upstream} = this.#session.options;
		const reason = String(objectOf(error).message);
		const problem = new BridgeError(
			'ERR_UPSTREAM_UNREACHABLE',
			`${upstream} could not be initialized: ${reason}.`,
			'Correct that, and initialize again.',
		);
		this.#log.warn('proxy.handshake.failed', problem.message, {server: upstream});
		this.#session.client = undefined;
		for (const {head, origin} of this.#held.takeAll())
			if (head.id !== undefined) this.#out.toClient(Envelope.failure(head.id, problem, origin));
		this.#done?.();
	}

	/** What nobody waits for any more is not asked. To cancel an `initialize` is forbidden. */
	#cancel(envelope: Envelope): void {
		const id = memberText(envelope.bytes, 'params', 'requestId');
		if (id !== undefined) this.#held.remove(id);
	}

	#stop(): void {
		clearTimeout(this.#grace);
		this.#held.takeAll();
	}
}
