import {BoundedMap} from '../../util/bounded-map.js';
import type {TurnCall} from './turn-call.js';

/** Turns that may be under way at a time, over all threads. */
const MAX_RUNNING_TURNS = 1000;
/** Calls that may wait for their turn on one thread. */
const MAX_QUEUED = 32;
/** Threads that are remembered to be no good; the oldest is forgotten for the next. */
const MAX_RETIRED = 10_000;
/** Threads that are known to have had a call; the oldest is evicted. */
const MAX_USED = 10_000;

/** Threads whose last freed call is kept; the oldest is evicted. */
const MAX_FREED = 1000;

type ThreadQueue = {current: TurnCall; readonly queued: TurnCall[]};

/** Who has the turn on which thread. Codex mixes up two turns at once on one thread, so there never are. */
export class ThreadQueues {
	readonly #queues = new Map<string, ThreadQueue>();
	readonly #retired = new BoundedMap<string, string>(MAX_RETIRED);
	/** The last call of each thread that was freed before Codex had acknowledged it. */
	readonly #freed = new BoundedMap<string, TurnCall>(MAX_FREED);
	readonly #used = new BoundedMap<string, true>(MAX_USED);

	/** The call whose turn it is on a thread. */
	current(threadId: string | undefined): TurnCall | undefined {
		return threadId === undefined ? undefined : this.#queues.get(threadId)?.current;
	}

	/** Whether a call has had a turn on a thread. */
	hasBeenUsed(threadId: string | undefined): boolean {
		return threadId !== undefined && this.#used.has(threadId);
	}

	get isFull(): boolean {
		return this.#queues.size >= MAX_RUNNING_TURNS;
	}

	/** Why a thread cannot be used any more, if that is so. */
	retirementReason(threadId: string): string | undefined {
		return this.#retired.get(threadId);
	}

	/** Gives a call the turn on its thread, now or after those that came before it. */
	acquire(call: TurnCall, threadId: string): 'now' | 'later' | 'never' {
		const thread = this.#queues.get(threadId);
		if (!thread) {
			this.#used.set(threadId, true);
			this.#queues.set(threadId, {current: call, queued: []});
			return 'now';
		}
		if (thread.queued.length >= MAX_QUEUED) return 'never';
		thread.queued.push(call);
		return 'later';
	}

	/** Takes a call out that still waits for its turn. Returns whether it did. */
	removeQueued(call: TurnCall): boolean {
		const queued = this.#queues.get(call.threadId ?? '')?.queued ?? [];
		const at = queued.indexOf(call);
		if (at !== -1) queued.splice(at, 1);
		return at !== -1;
	}

	/** The turn of a call is over. Returns whose turn it is next. */
	release(call: TurnCall): TurnCall | undefined {
		const {threadId = ''} = call;
		const thread = this.#queues.get(threadId);
		if (thread?.current !== call) return;
		const next = thread.queued.shift();
		if (next) thread.current = next;
		else this.#queues.delete(threadId);
		return next;
	}

	/** A call gives up its thread, while Codex may still start its turn. */
	markFreed(call: TurnCall): void {
		if (call.threadId !== undefined) this.#freed.set(call.threadId, call);
	}

	/**
	 * The freed call of a thread, if what Codex has sent is about it: under its own request `asked`, or as the start of a turn where no
	 * other call has the thread.
	 */
	takeFreed(threadId: string, requestedCall: TurnCall | undefined, isStart: boolean): TurnCall | undefined {
		const isUnclaimed = isStart && !this.#queues.has(threadId);
		const freed = this.#freed.get(threadId);
		return freed === requestedCall || isUnclaimed ? this.#freed.take(threadId) : undefined;
	}

	/** No more turns on this thread, for the first reason that was given. Returns those that waited for one. */
	retire(threadId: string, reason: string): TurnCall[] {
		if (!this.#retired.has(threadId)) this.#retired.set(threadId, reason);
		return this.#queues.get(threadId)?.queued.splice(0) ?? [];
	}
}
