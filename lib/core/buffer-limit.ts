const MIB = 2 ** 20;
export const DEFAULT_BUFFER_BYTES = 256 * MIB;
/** The sum is checked each time an eighth of the limit was added; eviction frees an eighth. */
const CHECK_DIVISOR = 8;
/** References to buffers that were collected are removed when there are this many, or twice as many as after the last time. */
const MIN_PRUNE_SIZE = 1000;

/** A buffer of one session for a client that resumes a stream, listens again or comes back with input. */
export type EvictableBuffer = {
	readonly bufferedBytes: number;
	/** Evicts all that it keeps. */
	evict(): void;
};

type BufferLimitOptions = {
	/** Called on each check: the limit may change. */
	readonly limit: () => number;
	/** Called after an eviction. */
	readonly onEvicted: (bytes: number, keepers: number) => void;
};

/**
 * The bytes in the buffers of all sessions together. Over the limit, the largest buffers are evicted first.
 *
 * Buffers are registered by weak references, so those of a session that has ended need not be removed.
 */
export class BufferLimit {
	#options: BufferLimitOptions = {limit: () => DEFAULT_BUFFER_BYTES, onEvicted: () => {}};
	readonly #buffers = new Set<WeakRef<EvictableBuffer>>();
	#pruneAt = MIN_PRUNE_SIZE;
	#growth = 0;
	#check: NodeJS.Immediate | undefined;

	configure(options: BufferLimitOptions): void {
		this.#options = options;
	}

	/** Registered buffers, with those that were collected since the last check. */
	get size(): number {
		return this.#buffers.size;
	}

	/** To be called once for each buffer. */
	register(buffer: EvictableBuffer): void {
		this.#buffers.add(new WeakRef(buffer));
		if (this.#buffers.size < this.#pruneAt) return;
		this.#pruneAt = Math.max(MIN_PRUNE_SIZE, 2 * this.#liveBuffers().length);
	}

	/** To be called with the size of each addition. The check runs later: the caller may be changing its buffer. */
	added(bytes: number): void {
		this.#growth += bytes;
		if (this.#growth < this.#options.limit() / CHECK_DIVISOR) return;
		this.#growth = 0;
		this.#check ??= setImmediate(() => this.check());
	}

	/** Evicts buffers until the rest is within the limit. */
	check(): void {
		clearImmediate(this.#check);
		this.#check = undefined;
		const limit = this.#options.limit();
		const sizes = this.#liveBuffers().map(keeper => ({keeper, bytes: keeper.bufferedBytes}));
		const total = sizes.reduce((sum, {bytes}) => sum + bytes, 0);
		if (total <= limit) return;
		let [sum, evicted] = [total, 0];
		for (const {keeper, bytes} of sizes.sort((one, other) => other.bytes - one.bytes)) {
			if (sum <= limit - limit / CHECK_DIVISOR) break;
			keeper.evict();
			sum -= bytes - keeper.bufferedBytes;
			evicted++;
		}
		this.#options.onEvicted(total - sum, evicted);
	}

	/** The buffers that were not collected. References to others are removed. */
	#liveBuffers(): EvictableBuffer[] {
		return [...this.#buffers].flatMap(reference => {
			const keeper = reference.deref();
			if (!keeper) this.#buffers.delete(reference);
			return keeper ?? [];
		});
	}
}

/** The buffers of this process. */
export const bufferLimit = new BufferLimit();
