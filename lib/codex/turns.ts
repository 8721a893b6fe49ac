import type {Envelope, Origin} from '../envelope.js';
import {BridgeError} from '../errors.js';
import type {Outlets} from '../stage.js';
import {canonicalId} from '../wire/id.js';
import {Call} from './call.js';
import {answerTo, failed, interrupted, type Outcome} from './outcome.js';
import type {Reports} from './reports.js';
import {Threads} from './threads.js';

/** What only a backend knows how to do. */
export type Backend = {
	/** Has Codex work on a call. */
	begin(call: Call): void;
	/** Tells Codex to stop a turn that runs. */
	interrupt(call: Call): void;
	/** A turn is over: what it still wants of the client is not wanted any more. */
	ended(threadId: string): void;
};

export type TurnsOptions = {
	readonly out: Outlets;
	readonly reports: Reports;
	readonly backend: Backend;
	/** How long a cancelled call waits for Codex to say that it has stopped. */
	readonly cancelGraceMs?: number | undefined;
};

/** Calls without an answer at a time. */
const MAX_CALLS = 1000;
const CANCEL_GRACE_MS = 2000;

/**
 * The calls of `codex` and `codex-reply`: one answer each, whatever becomes of its turn.
 *
 * A turn is only interrupted once it runs, since Codex does not hear of it before. A cancelled call gets its answer even
 * when Codex says nothing; its thread is not used by another before it has.
 */
export class Turns {
	readonly #out: Outlets;
	readonly #reports: Reports;
	readonly #backend: Backend;
	readonly #graceMs: number;
	/** Those without an answer, by their keys. */
	readonly #calls = new Map<string, Call>();
	readonly #threads = new Threads();

	constructor({out, reports, backend, cancelGraceMs = CANCEL_GRACE_MS}: TurnsOptions) {
		this.#out = out;
		this.#reports = reports;
		this.#backend = backend;
		this.#graceMs = cancelGraceMs;
	}

	/** The call whose turn it is on this thread. */
	current(threadId: string | undefined): Call | undefined {
		return this.#threads.current(threadId);
	}

	/** A call came. */
	add(envelope: Envelope): void {
		if (this.#calls.size >= MAX_CALLS || this.#threads.isFull) throw tooMany(MAX_CALLS);
		const call = new Call(envelope);
		this.#calls.set(call.key, call);
		const {threadId} = call;
		if (call.prompt === undefined)
			this.finish(call, failed('The argument prompt is missing: give it a text.'));
		else if (!call.isReply) this.#backend.begin(call);
		else if (threadId === undefined)
			this.finish(call, failed('The argument threadId is missing: name the thread to go on with.'));
		else this.#enter(call, threadId);
	}

	#enter(call: Call, threadId: string): void {
		if (this.#threads.isRetired(threadId)) this.finish(call, retired(threadId));
		else {
			const when = this.#threads.enter(call, threadId);
			if (when === 'now') this.#backend.begin(call);
			if (when === 'never')
				this.finish(call, failed(`Too many calls wait for thread ${threadId}. Wait for some of them first.`));
		}
	}

	/** Codex has made a thread for a call. */
	knowThread(call: Call, threadId: string, rolloutPath: string | undefined, origin: Origin): void {
		if (call.threadId === undefined) {
			call.threadId = threadId;
			this.#threads.enter(call, threadId);
		}
		this.#reports.thread(call, threadId, rolloutPath, origin);
	}

	/** The turn of a call runs. */
	started(call: Call, origin: Origin): void {
		if (call.hasStarted) return;
		call.hasStarted = true;
		this.#reports.turnStarted(call, origin);
		if (call.isCancelled || call.failure !== undefined) this.#backend.interrupt(call);
	}

	/** The client gives up the request with this id. */
	cancel(id: string): void {
		const call = this.#calls.get(canonicalId(id));
		if (!call || call.isCancelled) return;
		call.isCancelled = true;
		if (this.#threads.withdraw(call)) this.finish(call, interrupted(call));
		else {
			call.timer = setTimeout(() => setImmediate(() => this.#giveUp(call)), this.#graceMs).unref();
			if (call.hasStarted) this.#backend.interrupt(call);
		}
	}

	/** Ends a turn that can lead to nothing, for a reason that the caller is told. */
	abandon(call: Call, reason: string): void {
		call.failure ??= reason;
		call.timer ??= setTimeout(() => setImmediate(() => this.#giveUp(call)), this.#graceMs).unref();
		if (call.hasStarted) this.#backend.interrupt(call);
	}

	/** Codex has stopped a turn. */
	stopped(call: Call): void {
		this.finish(call, call.failure === undefined ? interrupted(call) : failed(call.failure));
	}

	/** A turn is over, or was never begun. */
	finish(call: Call, outcome: Outcome): void {
		const {threadId} = call;
		this.#answer(call, outcome);
		if (threadId === undefined) return;
		const isCurrent = this.#threads.current(threadId) === call;
		if (isCurrent) this.#backend.ended(threadId);
		if (outcome.isThreadRetired)
			for (const waiting of this.#threads.retire(threadId)) this.#answer(waiting, retired(threadId));
		const next = this.#threads.leave(call);
		if (next) this.#backend.begin(next);
	}

	/** No more timers. */
	stop(): void {
		for (const {timer} of this.#calls.values()) clearTimeout(timer);
		this.#calls.clear();
	}

	/** Codex did not confirm: whoever waits is told, and the thread stays busy. */
	#giveUp(call: Call): void {
		if (this.#calls.get(call.key) !== call) return;
		this.#answer(call, call.failure === undefined ? interrupted(call) : failed(call.failure));
	}

	#answer(call: Call, outcome: Outcome): void {
		clearTimeout(call.timer);
		if (call.isAnswered) return;
		call.isAnswered = true;
		if (this.#calls.get(call.key) === call) this.#calls.delete(call.key);
		this.#out.toClient(answerTo(call, outcome));
	}
}

const retired = (threadId: string): Outcome => ({
	status: 'retired',
	text: `Thread ${threadId} answers no more since its model failed. Start a new one with codex.`,
});

const tooMany = (limit: number): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`${limit} calls of Codex are under way already.`,
		'Wait for some of them before you send more.',
		{limit},
	);
