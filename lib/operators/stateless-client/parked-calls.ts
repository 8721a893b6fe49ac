import {randomBytes} from 'node:crypto';
import {bufferLimit, type EvictableBuffer} from '../../core/buffer-limit.js';

const MAX_PARKED = 1000;
const MAX_BYTES = 64 * 2 ** 20;
/** Pending server requests per call. */
const MAX_REQUESTS = 100;
/** Time for a person to provide the input. */
const TTL_MS = 10 * 60_000;

/** The error for a retry whose call is unknown, evicted or expired. */
export const unknownRequestState = {
	code: -32602,
	message: 'Invalid params: requestState is unknown, or too old',
} as const;

const randomState = (): string => `bridge.v1.${randomBytes(18).toString('base64url')}`;

type ParkedCallsOptions<Call> = {
	/** The bytes that a call retains: its server requests and its response. */
	readonly sizeOf: (call: Call) => number;
	readonly onEvicted?: (call: Call) => void;
	readonly maxBytes?: number;
	/** Creates the requestState of a call, which must not be guessable. Default: random. */
	readonly newState?: (() => string) | undefined;
	readonly now?: () => number;
};

/**
 * Calls that wait for a retry with input, by unguessable requestState. Over a limit, the oldest calls are
 * evicted. The newest call always stays.
 */
export class ParkedCalls<Call> implements EvictableBuffer {
	readonly #options: ParkedCallsOptions<Call>;
	readonly #now: () => number;
	readonly #calls = new Map<string, {readonly call: Call; readonly until: number}>();
	/** Bytes at the last count, to report the increase to `bufferLimit`. */
	#countedBytes = 0;

	constructor(options: ParkedCallsOptions<Call>) {
		this.#options = options;
		this.#now = options.now ?? (() => performance.now());
		bufferLimit.register(this);
	}

	get bufferedBytes(): number {
		const {sizeOf} = this.#options;
		let bytes = 0;
		for (const {call} of this.#calls.values()) bytes += sizeOf(call);
		return bytes;
	}

	/** Parks a call, and returns its requestState. */
	add(call: Call): string {
		const {newState = randomState} = this.#options;
		const state = newState();
		this.#calls.set(state, {call, until: this.#now() + TTL_MS});
		this.trim();
		return state;
	}

	/** Removes and returns the call of a requestState; undefined if it has expired. */
	take(state: string): Call | undefined {
		const parked = this.#calls.get(state);
		this.#calls.delete(state);
		this.#countedBytes = this.bufferedBytes;
		return parked && parked.until >= this.#now() ? parked.call : undefined;
	}

	/**
	 * Whether a call with this many server requests may store one more of this size. Evicting other calls does
	 * not shrink this one. The first request is always allowed.
	 */
	hasCapacity(call: Call, requests: number, bytes: number): boolean {
		const {sizeOf, maxBytes = MAX_BYTES} = this.#options;
		if (requests === 0) return true;
		return requests < MAX_REQUESTS && sizeOf(call) + bytes <= maxBytes;
	}

	/** Evicts calls over the limits. Must be called when a parked call has grown. */
	trim(): undefined {
		const {sizeOf, maxBytes = MAX_BYTES} = this.#options;
		let bytes = this.bufferedBytes;
		bufferLimit.added(Math.max(0, bytes - this.#countedBytes));
		for (const [state, {call}] of this.#calls) {
			const isFull = this.#calls.size > MAX_PARKED || bytes > maxBytes;
			if (!isFull || this.#calls.size === 1) break;
			bytes -= sizeOf(call);
			this.#drop(state, call);
		}
		this.#countedBytes = bytes;
	}

	evict(): void {
		for (const [state, {call}] of this.#calls) this.#drop(state, call);
		this.#countedBytes = 0;
	}

	#drop(state: string, call: Call): void {
		this.#calls.delete(state);
		this.#options.onEvicted?.(call);
	}
}
