import {BoundedMap} from '../../util/bounded-map.js';
import {memberRange} from '../../wire/member.js';
import type {Envelope} from '../envelope.js';
import {MAX_IDENTIFIER_LENGTH} from './progress.js';

/** Calls that may be pending at a time; the oldest is evicted for the next. */
const MAX_CALLS = 65_536;
/** Cancelled calls without a response, which may never get one; the oldest is evicted for the next. */
export const MAX_CANCELLED = 1024;
/** Bytes of an id: its characters, each of them written as an escape. */
const MAX_ID_BYTES = 6 * MAX_IDENTIFIER_LENGTH;

export type PendingCall = {
	/** A key for all spellings of the id that the client waits with. */
	key: string;
	/** The same for the id that was sent to the upstream. */
	readonly upstreamKey: string;
};

/** The calls of a client without a response yet. */
export class CallTable<Call extends PendingCall> {
	/** By the keys of the ids that were sent to the upstream. */
	readonly #calls = new BoundedMap<string, Call>(MAX_CALLS);
	/** Keys of the ids sent to the upstream, by those of the client, where the two differ. */
	readonly #renamed = new BoundedMap<string, string>(MAX_CALLS);
	/** Keys of cancelled calls. */
	readonly #cancelled = new Set<string>();

	has(upstreamKey: string): boolean {
		return this.#calls.has(upstreamKey);
	}

	values(): Iterable<Call> {
		return this.#calls.values();
	}

	set(call: Call): void {
		const {key, upstreamKey} = call;
		this.#calls.set(upstreamKey, call);
		this.#cancelled.delete(upstreamKey);
		if (key !== upstreamKey) this.#renamed.set(key, upstreamKey);
	}

	/** The call that a response with this key is for, which is no longer pending then. */
	take(upstreamKey: string): Call | undefined {
		const call = this.#calls.take(upstreamKey);
		if (call) this.#removeRenamed(call);
		this.#cancelled.delete(upstreamKey);
		return call;
	}

	/** The call with this key of the client. */
	find(key: string): Call | undefined {
		const call = this.#calls.get(key);
		if (call?.key === key) return call;
		const renamed = this.#calls.get(this.#renamed.get(key) ?? '');
		return renamed?.key === key ? renamed : undefined;
	}

	/** The client waits for the response to a call with another id from now on. */
	rename(call: Call, key: string): void {
		this.#removeRenamed(call);
		call.key = key;
		if (key !== call.upstreamKey && this.#calls.has(call.upstreamKey))
			this.#renamed.set(key, call.upstreamKey);
	}

	/** Keeps of a cancelled call what a late response needs: `rest`. */
	cancel(remainder: Call): void {
		const {upstreamKey} = remainder;
		if (!this.#calls.has(upstreamKey)) return;
		this.#calls.set(upstreamKey, remainder);
		this.#cancelled.add(upstreamKey);
		const [oldest] = this.#cancelled;
		if (this.#cancelled.size > MAX_CANCELLED && oldest !== undefined) this.take(oldest);
	}

	#removeRenamed({key, upstreamKey}: Call): void {
		if (this.#renamed.get(key) === upstreamKey) this.#renamed.delete(key);
	}
}

/**
 * The id of the request that a cancellation names, as text; undefined if it names none. An id that is too long to be that of
 * a pending request is not read.
 */
export function cancelledRequestId({bytes}: Envelope): string | undefined {
	const range = memberRange(bytes, 'params', 'requestId');
	return range && range[1] - range[0] <= MAX_ID_BYTES ? bytes.toString('utf8', ...range) : undefined;
}
