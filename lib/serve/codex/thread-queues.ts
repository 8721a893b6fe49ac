import {BoundedMap} from '../../util/bounded-map.js';
import type {TurnCall} from './turn-call.js';

/** Limit on threads with a running turn. */
const MAX_RUNNING_TURNS = 1000;
/** Limit per thread. */
const MAX_QUEUED = 32;
const MAX_RETIRED = 10_000;
const MAX_USED = 10_000;

const MAX_FREED = 1000;

type ThreadQueue = {current: TurnCall; readonly queued: TurnCall[]};

/**
 * The current call and the queue of each thread. Codex confuses concurrent turns on one thread, so each
 * thread runs one turn at a time.
 */
export class ThreadQueues {
	readonly #queues = new Map<string, ThreadQueue>();
	readonly #retired = new BoundedMap<string, string>(MAX_RETIRED);
	/** Per thread, the last call that was freed before Codex acknowledged it. */
	readonly #freed = new BoundedMap<string, TurnCall>(MAX_FREED);
	readonly #used = new BoundedMap<string, true>(MAX_USED);

	/** The call that currently uses a thread. */
	current(threadId: string | undefined): TurnCall | undefined {
		return threadId === undefined ? undefined : this.#queues.get(threadId)?.current;
	}

	hasBeenUsed(threadId: string | undefined): boolean {
		return threadId !== undefined && this.#used.has(threadId);
	}

	get isFull(): boolean {
		return this.#queues.size >= MAX_RUNNING_TURNS;
	}

	retirementReason(threadId: string): string | undefined {
		return this.#retired.get(threadId);
	}

	/** Acquires a thread for a call, or queues the call. `never`: the queue is full. */
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

	/** Removes a call from its queue. Returns whether it was queued. */
	removeQueued(call: TurnCall): boolean {
		const queued = this.#queues.get(call.threadId ?? '')?.queued ?? [];
		const at = queued.indexOf(call);
		if (at !== -1) queued.splice(at, 1);
		return at !== -1;
	}

	/** Releases the thread of a call. Returns the next call in its queue. */
	release(call: TurnCall): TurnCall | undefined {
		const {threadId = ''} = call;
		const thread = this.#queues.get(threadId);
		if (thread?.current !== call) return;
		const next = thread.queued.shift();
		if (next) thread.current = next;
		else this.#queues.delete(threadId);
		return next;
	}

	/** Records a call that releases its thread although Codex may still start its turn. */
	markFreed(call: TurnCall): void {
		if (call.threadId !== undefined) this.#freed.set(call.threadId, call);
	}

	/**
	 * Removes and returns the freed call of a thread if a message of Codex belongs to it. That is the case if
	 * the message refers to the call, or if it starts a turn while no other call uses the thread.
	 */
	takeFreed(threadId: string, requestedCall: TurnCall | undefined, isStart: boolean): TurnCall | undefined {
		const isUnclaimed = isStart && !this.#queues.has(threadId);
		const freed = this.#freed.get(threadId);
		return freed === requestedCall || isUnclaimed ? this.#freed.take(threadId) : undefined;
	}

	/** Blocks further turns on a thread. The first reason is kept. Returns the queued calls. */
	retire(threadId: string, reason: string): TurnCall[] {
		if (!this.#retired.has(threadId)) this.#retired.set(threadId, reason);
		return this.#queues.get(threadId)?.queued.splice(0) ?? [];
	}
}
