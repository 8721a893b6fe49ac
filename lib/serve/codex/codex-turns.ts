import type {Envelope, MessageOrigin} from '../../core/envelope.js';
import type {StageOutputs} from '../../core/stage.js';
import {canonicalId} from '../../wire/id.js';
import {
	type CodexOutcome,
	failedOutcome,
	interruptedOutcome,
	retiredOutcome,
	stoppedOutcome,
	turnResponse,
} from './codex-outcome.js';
import {ThreadQueues} from './thread-queues.js';
import {TurnCall} from './turn-call.js';
import {MAX_PENDING_CALLS, type TurnLimits, tooManyCalls, withDefaultLimits} from './turn-limits.js';
import type {TurnNotifier} from './turn-notifier.js';

/** What only a backend knows how to do. */
export type TurnBackend = {
	/** Has Codex work on a call. */
	startTurn(call: TurnCall): void;
	/** Tells Codex to stop a turn that runs. */
	interruptTurn(call: TurnCall): void;
	/** Sends a request that Codex responds to at once, after it has read what was sent before. */
	probe(onResponse: () => void): void;
	/** A turn is over: what it still wants of the client is not wanted any more. */
	turnEnded(threadId: string): void;
};

type CodexTurnsOptions = TurnLimits & {
	readonly out: StageOutputs;
	readonly notifier: TurnNotifier;
	readonly backend: TurnBackend;
};

/**
 * The calls of `codex` and `codex-reply`: one answer each, whatever becomes of its turn.
 *
 * A turn is only interrupted once it runs: Codex ignores an earlier interruption. A cancelled call gets its response even
 * when Codex reports nothing. Its thread is free then if Codex has read the request for the turn and not acknowledged it, since
 * it drops messages that it cannot parse; a turn that starts later all the same is interrupted. Otherwise the thread stays busy
 * until the turn ends, and is retired if it does not.
 */
export class CodexTurns {
	readonly #out: StageOutputs;
	readonly #notifier: TurnNotifier;
	readonly #backend: TurnBackend;
	readonly #limits: ReturnType<typeof withDefaultLimits>;
	/** Those without an answer, by their keys. */
	readonly #calls = new Map<string, TurnCall>();
	readonly #threads = new ThreadQueues();
	#isStopped = false;

	constructor({out, notifier, backend, ...limits}: CodexTurnsOptions) {
		this.#out = out;
		this.#notifier = notifier;
		this.#backend = backend;
		this.#limits = withDefaultLimits(limits);
	}

	/** The call whose turn it is on this thread. */
	current(threadId: string | undefined): TurnCall | undefined {
		return this.#threads.current(threadId);
	}

	/**
	 * Whether a request of Codex on this thread comes from a turn that was given up or is over. Threads without any call are those
	 * of agents that a turn has started.
	 */
	isAbandoned(threadId: string | undefined): boolean {
		const call = this.current(threadId);
		if (call) return call.isCancelled || call.hasResponse || call.failureReason !== undefined;
		return this.#calls.size === 0 || this.#threads.hasBeenUsed(threadId);
	}

	/** A call came. */
	add(envelope: Envelope): void {
		if (this.#calls.size >= MAX_PENDING_CALLS || this.#threads.isFull) throw tooManyCalls();
		const call = new TurnCall(envelope);
		this.#calls.set(call.key, call);
		const {threadId} = call;
		if (call.prompt === undefined)
			this.finish(call, failedOutcome('The argument prompt is missing: give it a text.'));
		else if (!call.isReply) this.#start(call);
		else if (threadId === undefined)
			this.finish(call, failedOutcome('The argument threadId is missing: name the thread to go on with.'));
		else this.#enqueue(call, threadId);
	}

	#enqueue(call: TurnCall, threadId: string): void {
		const reason = this.#threads.retirementReason(threadId);
		if (reason !== undefined) this.finish(call, retiredOutcome(threadId, reason));
		else {
			const when = this.#threads.acquire(call, threadId);
			if (when === 'now') this.#start(call);
			if (when === 'never')
				this.finish(
					call,
					failedOutcome(`Too many calls wait for thread ${threadId}. Wait for some of them first.`),
				);
		}
	}

	#start(call: TurnCall): void {
		const onTimeout = (): void => this.#onStartTimeout(call);
		call.startTimer = setTimeout(() => setImmediate(onTimeout), this.#limits.startMs).unref();
		this.#backend.startTurn(call);
	}

	/** Codex has made a thread for a call. */
	setThread(call: TurnCall, threadId: string, rolloutPath: string | undefined, origin: MessageOrigin): void {
		if (call.threadId === undefined) {
			call.threadId = threadId;
			this.#threads.acquire(call, threadId);
		}
		this.#notifier.notifyThread(call, threadId, rolloutPath, origin);
	}

	/** The turn of a call runs. */
	markStarted(call: TurnCall, origin: MessageOrigin): void {
		if (call.hasStarted) return;
		call.hasStarted = true;
		clearTimeout(call.startTimer);
		this.#notifier.notifyTurnStarted(call, origin);
		if (call.isCancelled || call.failureReason !== undefined) this.#backend.interruptTurn(call);
	}

	/** The client gives up the request with this id. */
	cancel(id: string): void {
		const call = this.#calls.get(canonicalId(id));
		if (!call || call.isCancelled) return;
		call.isCancelled = true;
		if (this.#threads.removeQueued(call)) this.finish(call, interruptedOutcome(call));
		else this.#stop(call);
	}

	/** Ends a turn that can lead to nothing, for a reason that the caller is told. */
	abandon(call: TurnCall, reason: string): void {
		call.failureReason ??= reason;
		this.#stop(call);
	}

	/** Tells Codex to stop a turn, which it confirms in time or not. */
	#stop(call: TurnCall): void {
		const onTimeout = (): void => this.#onStopTimeout(call);
		call.stopTimer ??= setTimeout(() => setImmediate(onTimeout), this.#limits.cancelGraceMs).unref();
		if (call.hasStarted) this.#backend.interruptTurn(call);
		else this.#backend.probe(() => this.#freeUnlessAcknowledged(call));
	}

	/** Codex has read what was sent before. A turn that it took in is acknowledged within moments. */
	#freeUnlessAcknowledged(call: TurnCall): void {
		const check = (): void => {
			if (this.#isStopped || call.isAcknowledged || call.isFinished) return;
			this.#threads.markFreed(call);
			this.finish(call, stoppedOutcome(call));
		};
		setTimeout(() => setImmediate(check), this.#limits.acknowledgeMs).unref();
	}

	/**
	 * Codex has sent something on a thread, under the request of `asked` if that is known. If it has taken in the request of a freed
	 * call after all, that call gets its thread back, such that its turn is interrupted. `isStart`: whether a turn starts.
	 */
	reclaimThread(threadId: string, requestedCall: TurnCall | undefined, isStart: boolean): void {
		const current = this.current(threadId);
		const freed = this.#threads.takeFreed(threadId, requestedCall, isStart);
		if (!freed) return;
		freed.isFinished = false;
		if (current?.hasStarted) {
			freed.hasStarted = true;
			// First, since it responds to the open requests of the turn.
			this.#backend.interruptTurn(freed);
		}
		if (current) this.#displace(current, threadId);
		this.#threads.acquire(freed, threadId);
		setTimeout(() => this.#onStuck(freed), this.#limits.stuckMs).unref();
	}

	/** Ends a call whose turn Codex would mix up with a cancelled one. Its own turn is interrupted if it starts later. */
	#displace(call: TurnCall, threadId: string): void {
		const reason = 'a cancelled turn on it started late';
		this.#retireThread(threadId, reason);
		this.#threads.markFreed(call);
		if (!call.isCancelled)
			call.failureReason ??= `The turn was stopped, since ${reason}: Codex mixes up such turns. Send it again on a new thread.`;
		const hasPossiblyRun = call.hasStarted || call.isCancelled;
		this.finish(
			call,
			hasPossiblyRun ? {...stoppedOutcome(call), isThreadRetired: true} : retiredOutcome(threadId, reason),
		);
	}

	/** Codex has stopped a turn. */
	finishStopped(call: TurnCall): void {
		this.finish(call, stoppedOutcome(call));
	}

	/** A turn is over, or was never begun. */
	finish(call: TurnCall, outcome: CodexOutcome): void {
		const {threadId} = call;
		call.isFinished = true;
		this.#respond(call, outcome);
		if (threadId === undefined) return;
		const isCurrent = this.#threads.current(threadId) === call;
		if (isCurrent) this.#backend.turnEnded(threadId);
		if (outcome.isThreadRetired)
			this.#retireThread(threadId, outcome.isUnconfirmed ? 'a turn on it did not end' : 'its model failed');
		const next = this.#threads.release(call);
		if (next) this.#start(next);
	}

	#retireThread(threadId: string, reason: string): void {
		for (const queued of this.#threads.retire(threadId, reason))
			this.#respond(queued, retiredOutcome(threadId, reason));
	}

	/** Codex has ended. The stages in front respond to the calls, and get what was said in their turns. */
	codexExited(): void {
		for (const call of this.#calls.values())
			if (call.transcript.text !== '') this.#notifier.notifyPartialText(call);
		this.dispose();
	}

	/** No more timers. */
	dispose(): void {
		this.#isStopped = true;
		for (const {stopTimer: timer, startTimer} of this.#calls.values()) {
			clearTimeout(timer);
			clearTimeout(startTimer);
		}
		this.#calls.clear();
	}

	#onStartTimeout(call: TurnCall): void {
		if (this.#isStopped || call.isFinished) return;
		const secs = this.#limits.startMs / 1000;
		this.abandon(
			call,
			`Codex did not start the turn within ${secs} s, so it was given up. Send it again, or look at the output of Codex on stderr for the reason.`,
		);
	}

	/** Codex did not confirm the end of a turn: its call gets a response all the same. */
	#onStopTimeout(call: TurnCall): void {
		if (this.#calls.get(call.key) !== call) return;
		this.#respond(call, {...stoppedOutcome(call), isUnconfirmed: true});
		setTimeout(() => this.#onStuck(call), this.#limits.stuckMs).unref();
	}

	/** A turn does not end. Calls that wait for its thread are rejected, and can be sent to another one. */
	#onStuck(call: TurnCall): void {
		if (this.#isStopped || call.isFinished || call.threadId === undefined) return;
		this.finish(call, {...stoppedOutcome(call), isThreadRetired: true, isUnconfirmed: true});
	}

	#respond(call: TurnCall, outcome: CodexOutcome): void {
		clearTimeout(call.stopTimer);
		clearTimeout(call.startTimer);
		if (call.hasResponse) return;
		call.hasResponse = true;
		if (this.#calls.get(call.key) === call) this.#calls.delete(call.key);
		this.#out.toClient(turnResponse(call, outcome));
	}
}
