import {randomBytes} from 'node:crypto';
import {bufferLimit, type EvictableBuffer} from '../../core/buffer-limit.js';

const MAX_PARKED = 1000;
const MAX_BYTES = 64 * 2 ** 20;
/** Server requests that wait in one call. */
const MAX_REQUESTS = 100;
/** How long a person may take to answer. */
const TTL_MS = 10 * 60_000;

/** What a client hears that comes back with a word under which nothing waits. */
export const unknownRequestState = {
	code: -32602,
	message: 'Invalid params: requestState is unknown, or too old',
} as const;

const randomState = (): string => `bridge.v1.${randomBytes(18).toString('base64url')}`;

type ParkedCallsOptions<Call> = {
	/** How many bytes are kept for a call: what was asked in it, and what it was answered. */
	readonly sizeOf: (call: Call) => number;
	/** Told of a call that is given up for others. */
	readonly onEvicted?: (call: Call) => void;
	readonly maxBytes?: number;
	/** Makes the word for a call; without it, one that means nothing. Nobody may be able to guess it. */
	readonly newState?: (() => string) | undefined;
	readonly now?: () => number;
};

/**
 * Calls whose client has been sent away for input, under words that nobody can guess. When there are too many of them,
 * or too much, the oldest is forgotten for the next; the last one always stays.
 */
export class ParkedCalls<Call> implements EvictableBuffer {
	readonly #options: ParkedCallsOptions<Call>;
	readonly #now: () => number;
	readonly #calls = new Map<string, {readonly call: Call; readonly until: number}>();
	/** Bytes at the last count. */
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

	/** The word to come back with. */
	add(call: Call): string {
		const {newState = randomState} = this.#options;
		const state = newState();
		this.#calls.set(state, {call, until: this.#now() + TTL_MS});
		this.trim();
		return state;
	}

	/** The call that waits under a word, once. */
	take(state: string): Call | undefined {
		const parked = this.#calls.get(state);
		this.#calls.delete(state);
		this.#countedBytes = this.bufferedBytes;
		return parked && parked.until >= this.#now() ? parked.call : undefined;
	}

	/**
	 * Whether a call may keep one more server request of this size, beside those that wait in it. Evicting other calls
	 * frees nothing of a call that grows, so the sender of such a request gets an error instead. The first one always may.
	 */
	hasCapacity(call: Call, requests: number, bytes: number): boolean {
		const {sizeOf, maxBytes = MAX_BYTES} = this.#options;
		if (requests === 0) return true;
		return requests < MAX_REQUESTS && sizeOf(call) + bytes <= maxBytes;
	}

	/** Forgets what is too much. To be called when a call has become larger while it was parked. */
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
