const MIB = 2 ** 20;
export const DEFAULT_BUFFER_BYTES = 256 * MIB;
/** The total is checked whenever an eighth of the limit was added. An eviction frees an eighth. */
const CHECK_DIVISOR = 8;
/** Collected references are pruned at this size, later at twice the size after the last pruning. */
const MIN_PRUNE_SIZE = 1000;

/** A session's buffer for a client that may resume a stream, reopen one or retry with input. */
export type EvictableBuffer = {
	readonly bufferedBytes: number;
	evict(): void;
};

type BufferLimitOptions = {
	/** Called on each check, since the limit may change. */
	readonly limit: () => number;
	readonly onEvicted: (bytes: number, bufferCount: number) => void;
};

/**
 * Limits the total size of the buffers of all sessions. Over the limit, the largest buffers are evicted
 * first.
 *
 * Buffers are referenced weakly, so a session that ends does not need to unregister its buffers.
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

	/** The number of registered buffers, including those collected since the last check. */
	get size(): number {
		return this.#buffers.size;
	}

	/** Must be called once per buffer. */
	register(buffer: EvictableBuffer): void {
		this.#buffers.add(new WeakRef(buffer));
		if (this.#buffers.size < this.#pruneAt) return;
		this.#pruneAt = Math.max(MIN_PRUNE_SIZE, 2 * this.#liveBuffers().length);
	}

	/** Counts an addition. The check runs later because the caller may be modifying its buffer. */
	added(bytes: number): void {
		this.#growth += bytes;
		if (this.#growth < this.#options.limit() / CHECK_DIVISOR) return;
		this.#growth = 0;
		this.#check ??= setImmediate(() => this.check());
	}

	/** Evicts buffers if their total exceeds the limit. */
	check(): void {
		clearImmediate(this.#check);
		this.#check = undefined;
		const limit = this.#options.limit();
		const sizes = this.#liveBuffers().map(buffer => ({buffer, bytes: buffer.bufferedBytes}));
		const total = sizes.reduce((sum, {bytes}) => sum + bytes, 0);
		if (total <= limit) return;
		let [sum, evicted] = [total, 0];
		for (const {buffer, bytes} of sizes.sort((one, other) => other.bytes - one.bytes)) {
			if (sum <= limit - limit / CHECK_DIVISOR) break;
			buffer.evict();
			sum -= bytes - buffer.bufferedBytes;
			evicted++;
		}
		this.#options.onEvicted(total - sum, evicted);
	}

	/** The buffers that are still alive. Removes dead references. */
	#liveBuffers(): EvictableBuffer[] {
		return [...this.#buffers].flatMap(reference => {
			const buffer = reference.deref();
			if (!buffer) this.#buffers.delete(reference);
			return buffer ?? [];
		});
	}
}

export const bufferLimit = new BufferLimit();
