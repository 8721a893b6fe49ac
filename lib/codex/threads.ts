import {BoundedMap} from '../bounded-map.js';
import type {Call} from './call.js';

/** Turns that may be under way at a time, over all threads. */
const MAX_TURNS = 1000;
/** Calls that may wait for their turn on one thread. */
const MAX_WAITING = 32;
/** Threads that are remembered to be no good; the oldest is forgotten for the next. */
const MAX_RETIRED = 10_000;
/** Threads that are known to have had a call; the oldest is evicted. */
const MAX_KNOWN = 10_000;

/** Threads whose last freed call is kept; the oldest is evicted. */
const MAX_FREED = 1000;

type Thread = {current: Call; readonly waiting: Call[]};

/** Who has the turn on which thread. Codex mixes up two turns at once on one thread, so there never are. */
export class Threads {
	readonly #busy = new Map<string, Thread>();
	readonly #retired = new BoundedMap<string, string>(MAX_RETIRED);
	/** The last call of each thread that was freed before Codex had acknowledged it. */
	readonly #freed = new BoundedMap<string, Call>(MAX_FREED);
	readonly #known = new BoundedMap<string, true>(MAX_KNOWN);

	/** The call whose turn it is on a thread. */
	current(threadId: string | undefined): Call | undefined {
		return threadId === undefined ? undefined : this.#busy.get(threadId)?.current;
	}

	/** Whether a call has had a turn on a thread. */
	isKnown(threadId: string | undefined): boolean {
		return threadId !== undefined && this.#known.has(threadId);
	}

	get isFull(): boolean {
		return this.#busy.size >= MAX_TURNS;
	}

	/** Why a thread cannot be used any more, if that is so. */
	retirement(threadId: string): string | undefined {
		return this.#retired.get(threadId);
	}

	/** Gives a call the turn on its thread, now or after those that came before it. */
	enter(call: Call, threadId: string): 'now' | 'later' | 'never' {
		const thread = this.#busy.get(threadId);
		if (!thread) {
			this.#known.set(threadId, true);
			this.#busy.set(threadId, {current: call, waiting: []});
			return 'now';
		}
		if (thread.waiting.length >= MAX_WAITING) return 'never';
		thread.waiting.push(call);
		return 'later';
	}

	/** Takes a call out that still waits for its turn. Returns whether it did. */
	withdraw(call: Call): boolean {
		const waiting = this.#busy.get(call.threadId ?? '')?.waiting ?? [];
		const at = waiting.indexOf(call);
		if (at !== -1) waiting.splice(at, 1);
		return at !== -1;
	}

	/** The turn of a call is over. Returns whose turn it is next. */
	leave(call: Call): Call | undefined {
		const {threadId = ''} = call;
		const thread = this.#busy.get(threadId);
		if (thread?.current !== call) return;
		const next = thread.waiting.shift();
		if (next) thread.current = next;
		else this.#busy.delete(threadId);
		return next;
	}

	/** A call gives up its thread, while Codex may still start its turn. */
	free(call: Call): void {
		if (call.threadId !== undefined) this.#freed.set(call.threadId, call);
	}

	/**
	 * The freed call of a thread, if what Codex has sent is about it: under its own request `asked`, or as the start of a turn where no
	 * other call has the thread.
	 */
	reclaim(threadId: string, asked: Call | undefined, isStart: boolean): Call | undefined {
		const isUnclaimed = isStart && !this.#busy.has(threadId);
		const freed = this.#freed.get(threadId);
		return freed === asked || isUnclaimed ? this.#freed.take(threadId) : undefined;
	}

	/** No more turns on this thread, for the first reason that was given. Returns those that waited for one. */
	retire(threadId: string, reason: string): Call[] {
		if (!this.#retired.has(threadId)) this.#retired.set(threadId, reason);
		return this.#busy.get(threadId)?.waiting.splice(0) ?? [];
	}
}
