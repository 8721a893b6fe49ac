import type {Envelope, Origin} from '../envelope.js';
import type {Outlets} from '../stage.js';
import {canonicalId} from '../wire/id.js';
import {Call} from './call.js';
import {answerTo, failed, interrupted, type Outcome, retired, stoppedOutcome} from './outcome.js';
import type {Reports} from './reports.js';
import {Threads} from './threads.js';
import {allLimits, MAX_CALLS, type TurnLimits, tooMany} from './turn-limits.js';

/** What only a backend knows how to do. */
export type Backend = {
	/** Has Codex work on a call. */
	begin(call: Call): void;
	/** Tells Codex to stop a turn that runs. */
	interrupt(call: Call): void;
	/** Sends a request that Codex responds to at once, after it has read what was sent before. */
	probe(answered: () => void): void;
	/** A turn is over: what it still wants of the client is not wanted any more. */
	ended(threadId: string): void;
};

export type TurnsOptions = TurnLimits & {
	readonly out: Outlets;
	readonly reports: Reports;
	readonly backend: Backend;
};

/**
 * The calls of `codex` and `codex-reply`: one answer each, whatever becomes of its turn.
 *
 * A turn is only interrupted once it runs: Codex ignores an earlier interruption. A cancelled call gets its response even
 * when Codex reports nothing. Its thread is free then if Codex has read the request for the turn and not acknowledged it, since
 * it drops messages that it cannot parse; a turn that starts later all the same is interrupted. Otherwise the thread stays busy
 * until the turn ends, and is retired if it does not.
 */
export class Turns {
	readonly #out: Outlets;
	readonly #reports: Reports;
	readonly #backend: Backend;
	readonly #limits: ReturnType<typeof allLimits>;
	/** Those without an answer, by their keys. */
	readonly #calls = new Map<string, Call>();
	readonly #threads = new Threads();
	#isStopped = false;

	constructor({out, reports, backend, ...limits}: TurnsOptions) {
		this.#out = out;
		this.#reports = reports;
		this.#backend = backend;
		this.#limits = allLimits(limits);
	}

	/** The call whose turn it is on this thread. */
	current(threadId: string | undefined): Call | undefined {
		return this.#threads.current(threadId);
	}

	/**
	 * Whether a request of Codex on this thread comes from a turn that was given up or is over. Threads without any call are those
	 * of agents that a turn has started.
	 */
	isAbandoned(threadId: string | undefined): boolean {
		const call = this.current(threadId);
		if (call) return call.isCancelled || call.isAnswered || call.failure !== undefined;
		return this.#calls.size === 0 || this.#threads.isKnown(threadId);
	}

	/** A call came. */
	add(envelope: Envelope): void {
		if (this.#calls.size >= MAX_CALLS || this.#threads.isFull) throw tooMany();
		const call = new Call(envelope);
		this.#calls.set(call.key, call);
		const {threadId} = call;
		if (call.prompt === undefined)
			this.finish(call, failed('The argument prompt is missing: give it a text.'));
		else if (!call.isReply) this.#begin(call);
		else if (threadId === undefined)
			this.finish(call, failed('The argument threadId is missing: name the thread to go on with.'));
		else this.#enter(call, threadId);
	}

	#enter(call: Call, threadId: string): void {
		const reason = this.#threads.retirement(threadId);
		if (reason !== undefined) this.finish(call, retired(threadId, reason));
		else {
			const when = this.#threads.enter(call, threadId);
			if (when === 'now') this.#begin(call);
			if (when === 'never')
				this.finish(call, failed(`Too many calls wait for thread ${threadId}. Wait for some of them first.`));
		}
	}

	#begin(call: Call): void {
		const late = (): void => this.#notStarted(call);
		call.startTimer = setTimeout(() => setImmediate(late), this.#limits.startMs).unref();
		this.#backend.begin(call);
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
		clearTimeout(call.startTimer);
		this.#reports.turnStarted(call, origin);
		if (call.isCancelled || call.failure !== undefined) this.#backend.interrupt(call);
	}

	/** The client gives up the request with this id. */
	cancel(id: string): void {
		const call = this.#calls.get(canonicalId(id));
		if (!call || call.isCancelled) return;
		call.isCancelled = true;
		if (this.#threads.withdraw(call)) this.finish(call, interrupted(call));
		else this.#stop(call);
	}

	/** Ends a turn that can lead to nothing, for a reason that the caller is told. */
	abandon(call: Call, reason: string): void {
		call.failure ??= reason;
		this.#stop(call);
	}

	/** Tells Codex to stop a turn, which it confirms in time or not. */
	#stop(call: Call): void {
		const late = (): void => this.#giveUp(call);
		call.timer ??= setTimeout(() => setImmediate(late), this.#limits.cancelGraceMs).unref();
		if (call.hasStarted) this.#backend.interrupt(call);
		else this.#backend.probe(() => this.#passedOver(call));
	}

	/** Codex has read what was sent before. A turn that it took in is acknowledged within moments. */
	#passedOver(call: Call): void {
		const check = (): void => {
			if (this.#isStopped || call.isAcknowledged || call.isOver) return;
			this.#threads.free(call);
			this.finish(call, stoppedOutcome(call));
		};
		setTimeout(() => setImmediate(check), this.#limits.acknowledgeMs).unref();
	}

	/**
	 * Codex has sent something on a thread, under the request of `asked` if that is known. If it has taken in the request of a freed
	 * call after all, that call gets its thread back, such that its turn is interrupted. `isStart`: whether a turn starts.
	 */
	reclaim(threadId: string, asked: Call | undefined, isStart: boolean): void {
		const current = this.current(threadId);
		const freed = this.#threads.reclaim(threadId, asked, isStart);
		if (!freed) return;
		freed.isOver = false;
		if (current?.hasStarted) {
			freed.hasStarted = true;
			// First, since it responds to the open requests of the turn.
			this.#backend.interrupt(freed);
		}
		if (current) this.#displace(current, threadId);
		this.#threads.enter(freed, threadId);
		setTimeout(() => this.#stuck(freed), this.#limits.stuckMs).unref();
	}

	/** Ends a call whose turn Codex would mix up with a cancelled one. Its own turn is interrupted if it starts later. */
	#displace(call: Call, threadId: string): void {
		const reason = 'a cancelled turn on it started late';
		this.#retire(threadId, reason);
		this.#threads.free(call);
		if (!call.isCancelled)
			call.failure ??= `The turn was stopped, since ${reason}: Codex mixes up such turns. Send it again on a new thread.`;
		const mayHaveRun = call.hasStarted || call.isCancelled;
		this.finish(
			call,
			mayHaveRun ? {...stoppedOutcome(call), isThreadRetired: true} : retired(threadId, reason),
		);
	}

	/** Codex has stopped a turn. */
	stopped(call: Call): void {
		this.finish(call, stoppedOutcome(call));
	}

	/** A turn is over, or was never begun. */
	finish(call: Call, outcome: Outcome): void {
		const {threadId} = call;
		call.isOver = true;
		this.#answer(call, outcome);
		if (threadId === undefined) return;
		const isCurrent = this.#threads.current(threadId) === call;
		if (isCurrent) this.#backend.ended(threadId);
		if (outcome.isThreadRetired)
			this.#retire(threadId, outcome.isUnconfirmed ? 'a turn on it did not end' : 'its model failed');
		const next = this.#threads.leave(call);
		if (next) this.#begin(next);
	}

	#retire(threadId: string, reason: string): void {
		for (const waiting of this.#threads.retire(threadId, reason))
			this.#answer(waiting, retired(threadId, reason));
	}

	/** Codex has ended. The stages in front respond to the calls, and get what was said in their turns. */
	gone(): void {
		for (const call of this.#calls.values()) if (call.speech.text !== '') this.#reports.partial(call);
		this.stop();
	}

	/** No more timers. */
	stop(): void {
		this.#isStopped = true;
		for (const {timer, startTimer} of this.#calls.values()) {
			clearTimeout(timer);
			clearTimeout(startTimer);
		}
		this.#calls.clear();
	}

	#notStarted(call: Call): void {
		if (this.#isStopped || call.isOver) return;
		const secs = this.#limits.startMs / 1000;
		this.abandon(
			call,
			`Codex did not start the turn within ${secs} s, so it was given up. Send it again, or look at the output of Codex on stderr for the reason.`,
		);
	}

	/** Codex did not confirm the end of a turn: its call gets a response all the same. */
	#giveUp(call: Call): void {
		if (this.#calls.get(call.key) !== call) return;
		this.#answer(call, {...stoppedOutcome(call), isUnconfirmed: true});
		setTimeout(() => this.#stuck(call), this.#limits.stuckMs).unref();
	}

	/** A turn does not end. Calls that wait for its thread are rejected, and can be sent to another one. */
	#stuck(call: Call): void {
		if (this.#isStopped || call.isOver || call.threadId === undefined) return;
		this.finish(call, {...stoppedOutcome(call), isThreadRetired: true, isUnconfirmed: true});
	}

	#answer(call: Call, outcome: Outcome): void {
		clearTimeout(call.timer);
		clearTimeout(call.startTimer);
		if (call.isAnswered) return;
		call.isAnswered = true;
		if (this.#calls.get(call.key) === call) this.#calls.delete(call.key);
		this.#out.toClient(answerTo(call, outcome));
	}
}
