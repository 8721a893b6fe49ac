import {BoundedMap} from '../../util/bounded-map.js';
import {memberRange} from '../../wire/member.js';
import type {Envelope} from '../envelope.js';
import {MAX_IDENTIFIER_LENGTH} from './progress.js';

/** The maximum number of pending calls. The oldest is evicted for the next. */
const MAX_CALLS = 65_536;
/** The maximum number of cancelled calls without a response. The oldest is evicted for the next. */
export const MAX_CANCELLED = 1024;
/** The maximum bytes of an id, with every character written as an escape. */
const MAX_ID_BYTES = 6 * MAX_IDENTIFIER_LENGTH;

export type PendingCall = {
	/** The canonical key of the id that the client uses. */
	key: string;
	/** The canonical key of the id that was sent to the upstream. */
	readonly upstreamKey: string;
};

export class CallTable<Call extends PendingCall> {
	/** The calls, by upstream key. */
	readonly #calls = new BoundedMap<string, Call>(MAX_CALLS);
	/** The upstream keys, by client key, where the two differ. */
	readonly #renamed = new BoundedMap<string, string>(MAX_CALLS);
	/** The upstream keys of cancelled calls. */
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

	/** Removes and returns the call that a response with this key belongs to. */
	take(upstreamKey: string): Call | undefined {
		const call = this.#calls.take(upstreamKey);
		if (call) this.#removeRenamed(call);
		this.#cancelled.delete(upstreamKey);
		return call;
	}

	/** Returns the call with this client key. */
	find(key: string): Call | undefined {
		const call = this.#calls.get(key);
		if (call?.key === key) return call;
		const renamed = this.#calls.get(this.#renamed.get(key) ?? '');
		return renamed?.key === key ? renamed : undefined;
	}

	/** Changes the client key of a call, for a client that repeats the call with another id. */
	rename(call: Call, key: string): void {
		this.#removeRenamed(call);
		call.key = key;
		if (key !== call.upstreamKey && this.#calls.has(call.upstreamKey))
			this.#renamed.set(key, call.upstreamKey);
	}

	/** Replaces a cancelled call by `remainder`, the part that a late response needs. */
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
 * Returns the id of the request that a cancellation refers to, as JSON text. An id that is too long for a
 * pending request is not read.
 */
export function cancelledRequestId({bytes}: Envelope): string | undefined {
	const range = memberRange(bytes, 'params', 'requestId');
	return range && range[1] - range[0] <= MAX_ID_BYTES ? bytes.toString('utf8', ...range) : undefined;
}
