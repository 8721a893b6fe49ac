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

/** The operations that differ between the interfaces of Codex. */
export type TurnBackend = {
	startTurn(call: TurnCall): void;
	interruptTurn(call: TurnCall): void;
	/**
	 * Sends a request that Codex responds to immediately. The response proves that Codex has read all earlier
	 * messages.
	 */
	probe(onResponse: () => void): void;
	/** Cancels the pending approvals of a turn that has ended. */
	turnEnded(threadId: string): void;
};

type CodexTurnsOptions = TurnLimits & {
	readonly out: StageOutputs;
	readonly notifier: TurnNotifier;
	readonly backend: TurnBackend;
};

/**
 * Runs the calls of `codex` and `codex-reply`. Each call gets exactly one response, whatever happens to its
 * turn.
 *
 * A turn is interrupted only after it has started, because Codex ignores earlier interruptions. A cancelled
 * call gets its response even if Codex reports nothing.
 *
 * If Codex has read the request for a cancelled turn without acknowledging it, the thread is freed: Codex
 * drops messages that it cannot parse. If such a turn starts later after all, it is interrupted. Otherwise
 * the thread stays busy until the turn ends. It is retired if the turn does not end in time.
 */
export class CodexTurns {
	readonly #out: StageOutputs;
	readonly #notifier: TurnNotifier;
	readonly #backend: TurnBackend;
	readonly #limits: ReturnType<typeof withDefaultLimits>;
	/** The calls without a response, by key. */
	readonly #calls = new Map<string, TurnCall>();
	readonly #threads = new ThreadQueues();
	#isStopped = false;

	constructor({out, notifier, backend, ...limits}: CodexTurnsOptions) {
		this.#out = out;
		this.#notifier = notifier;
		this.#backend = backend;
		this.#limits = withDefaultLimits(limits);
	}

	current(threadId: string | undefined): TurnCall | undefined {
		return this.#threads.current(threadId);
	}

	/**
	 * Whether a request from Codex on this thread belongs to a turn that was abandoned or has ended. Threads
	 * that no call has used belong to subagents.
	 */
	isAbandoned(threadId: string | undefined): boolean {
		const call = this.current(threadId);
		if (call) return call.isCancelled || call.hasResponse || call.failureReason !== undefined;
		return this.#calls.size === 0 || this.#threads.hasBeenUsed(threadId);
	}

	add(envelope: Envelope): void {
		if (this.#calls.size >= MAX_PENDING_CALLS || this.#threads.isFull) throw tooManyCalls();
		const call = new TurnCall(envelope);
		this.#calls.set(call.key, call);
		const {threadId} = call;
		if (call.prompt === undefined)
			this.finish(call, failedOutcome('The argument prompt is missing. Pass it as a string.'));
		else if (!call.isReply) this.#start(call);
		else if (threadId === undefined)
			this.finish(
				call,
				failedOutcome('The argument threadId is missing. Pass the id of the thread to continue.'),
			);
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
					failedOutcome(
						`Too many calls are queued for thread ${threadId}. Wait until some of them complete, then try again.`,
					),
				);
		}
	}

	#start(call: TurnCall): void {
		const onTimeout = (): void => this.#onStartTimeout(call);
		call.startTimer = setTimeout(() => setImmediate(onTimeout), this.#limits.startMs).unref();
		this.#backend.startTurn(call);
	}

	/** Assigns the thread that Codex opened for a call. */
	setThread(call: TurnCall, threadId: string, rolloutPath: string | undefined, origin: MessageOrigin): void {
		if (call.threadId === undefined) {
			call.threadId = threadId;
			this.#threads.acquire(call, threadId);
		}
		this.#notifier.notifyThread(call, threadId, rolloutPath, origin);
	}

	markStarted(call: TurnCall, origin: MessageOrigin): void {
		if (call.hasStarted) return;
		call.hasStarted = true;
		clearTimeout(call.startTimer);
		this.#notifier.notifyTurnStarted(call, origin);
		if (call.isCancelled || call.failureReason !== undefined) this.#backend.interruptTurn(call);
	}

	cancel(id: string): void {
		const call = this.#calls.get(canonicalId(id));
		if (!call || call.isCancelled) return;
		call.isCancelled = true;
		if (this.#threads.removeQueued(call)) this.finish(call, interruptedOutcome(call));
		else this.#stop(call);
	}

	/** Stops a turn that cannot complete. The caller gets `reason` as the error. */
	abandon(call: TurnCall, reason: string): void {
		call.failureReason ??= reason;
		this.#stop(call);
	}

	/** Stops a turn, with a time limit for the confirmation of Codex. */
	#stop(call: TurnCall): void {
		const onTimeout = (): void => this.#onStopTimeout(call);
		call.stopTimer ??= setTimeout(() => setImmediate(onTimeout), this.#limits.cancelGraceMs).unref();
		if (call.hasStarted) this.#backend.interruptTurn(call);
		else this.#backend.probe(() => this.#freeUnlessAcknowledged(call));
	}

	/**
	 * Frees the thread of a call that Codex does not acknowledge within `acknowledgeMs` after it responded to
	 * the probe.
	 */
	#freeUnlessAcknowledged(call: TurnCall): void {
		const check = (): void => {
			if (this.#isStopped || call.isAcknowledged || call.isFinished) return;
			this.#threads.markFreed(call);
			this.finish(call, stoppedOutcome(call));
		};
		setTimeout(() => setImmediate(check), this.#limits.acknowledgeMs).unref();
	}

	/**
	 * Called for each message of Codex on a thread, with the call that the message refers to, if known. If the
	 * message belongs to a freed call, that call gets its thread back so that its turn is interrupted.
	 * `isStart`: whether the message reports the start of a turn.
	 */
	reclaimThread(threadId: string, requestedCall: TurnCall | undefined, isStart: boolean): void {
		const current = this.current(threadId);
		const freed = this.#threads.takeFreed(threadId, requestedCall, isStart);
		if (!freed) return;
		freed.isFinished = false;
		if (current?.hasStarted) {
			freed.hasStarted = true;
			// Before `#displace`, since this responds to the pending approvals of the turn.
			this.#backend.interruptTurn(freed);
		}
		if (current) this.#displace(current, threadId);
		this.#threads.acquire(freed, threadId);
		setTimeout(() => this.#onStuck(freed), this.#limits.stuckMs).unref();
	}

	/**
	 * Fails a call whose turn Codex would confuse with a cancelled one. Its turn is interrupted if it starts
	 * later.
	 */
	#displace(call: TurnCall, threadId: string): void {
		const reason = 'a cancelled turn on its thread started late';
		this.#retireThread(threadId, reason);
		this.#threads.markFreed(call);
		if (!call.isCancelled)
			call.failureReason ??= `The turn was stopped because ${reason}, and Codex confuses such turns. Send the prompt again on a new thread.`;
		const hasPossiblyRun = call.hasStarted || call.isCancelled;
		this.finish(
			call,
			hasPossiblyRun ? {...stoppedOutcome(call), isThreadRetired: true} : retiredOutcome(threadId, reason),
		);
	}

	finishStopped(call: TurnCall): void {
		this.finish(call, stoppedOutcome(call));
	}

	/** Responds to a call, releases its thread and starts the next call there. */
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

	/**
	 * Sends the partial texts of running turns after Codex has exited. The stages in front respond to the
	 * calls.
	 */
	codexExited(): void {
		for (const call of this.#calls.values())
			if (call.transcript.text !== '') this.#notifier.notifyPartialText(call);
		this.dispose();
	}

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
			`Codex did not start the turn within ${secs} s, so it was abandoned. Send the prompt again. The stderr output of Codex may contain the reason.`,
		);
	}

	/** Responds to a call although Codex has not confirmed the end of its turn. */
	#onStopTimeout(call: TurnCall): void {
		if (this.#calls.get(call.key) !== call) return;
		this.#respond(call, {...stoppedOutcome(call), isUnconfirmed: true});
		setTimeout(() => this.#onStuck(call), this.#limits.stuckMs).unref();
	}

	/**
	 * Retires the thread of a turn that does not end. Its queued calls are rejected and can be sent on another
	 * thread.
	 */
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
