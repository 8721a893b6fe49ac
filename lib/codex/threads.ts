import {BoundedMap} from '../bounded-map.js';
import type {Call} from './call.js';

/** Turns that may be under way at a time, over all threads. */
const MAX_TURNS = 1000;
/** Calls that may wait for their turn on one thread. */
const MAX_WAITING = 32;
/** Threads that are remembered to be no good; the oldest is forgotten for the next. */
const MAX_RETIRED = 10_000;

type Thread = {current: Call; readonly waiting: Call[]};

/** Who has the turn on which thread. Codex mixes up two turns at once on one thread, so there never are. */
export class Threads {
	readonly #busy = new Map<string, Thread>();
	readonly #retired = new BoundedMap<string, true>(MAX_RETIRED);

	/** The call whose turn it is on a thread. */
	current(threadId: string | undefined): Call | undefined {
		return threadId === undefined ? undefined : this.#busy.get(threadId)?.current;
	}

	get isFull(): boolean {
		return this.#busy.size >= MAX_TURNS;
	}

	isRetired(threadId: string): boolean {
		return this.#retired.has(threadId);
	}

	/** Gives a call the turn on its thread, now or after those that came before it. */
	enter(call: Call, threadId: string): 'now' | 'later' | 'never' {
		const thread = this.#busy.get(threadId);
		if (!thread) {
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

	/** No more turns on this thread. Returns those that waited for one. */
	retire(threadId: string): Call[] {
		this.#retired.set(threadId, true);
		return this.#busy.get(threadId)?.waiting.splice(0) ?? [];
	}
}
