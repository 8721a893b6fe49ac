const MIB = 2 ** 20;
export const KEPT_BYTES = 256 * MIB;
/** The sum is checked each time an eighth of the limit was added; eviction frees an eighth. */
const PARTS = 8;
/** References to buffers that were collected are removed when there are this many, or twice as many as after the last time. */
const LEAST_PRUNED = 1000;

/** A buffer of one session for a client that resumes a stream, listens again or comes back with input. */
export type Keeper = {
	readonly keptBytes: number;
	/** Evicts all that it keeps. */
	evict(): void;
};

export type KeptBytesOptions = {
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
export class KeptBytes {
	#options: KeptBytesOptions = {limit: () => KEPT_BYTES, onEvicted: () => {}};
	readonly #keepers = new Set<WeakRef<Keeper>>();
	#pruneAt = LEAST_PRUNED;
	#growth = 0;
	#check: NodeJS.Immediate | undefined;

	configure(options: KeptBytesOptions): void {
		this.#options = options;
	}

	/** Registered buffers, with those that were collected since the last check. */
	get size(): number {
		return this.#keepers.size;
	}

	/** To be called once for each buffer. */
	register(keeper: Keeper): void {
		this.#keepers.add(new WeakRef(keeper));
		if (this.#keepers.size < this.#pruneAt) return;
		this.#pruneAt = Math.max(LEAST_PRUNED, 2 * this.#live().length);
	}

	/** To be called with the size of each addition. The check runs later: the caller may be changing its buffer. */
	added(bytes: number): void {
		this.#growth += bytes;
		if (this.#growth < this.#options.limit() / PARTS) return;
		this.#growth = 0;
		this.#check ??= setImmediate(() => this.check());
	}

	/** Evicts buffers until the rest is within the limit. */
	check(): void {
		clearImmediate(this.#check);
		this.#check = undefined;
		const limit = this.#options.limit();
		const sizes = this.#live().map(keeper => ({keeper, bytes: keeper.keptBytes}));
		const before = sizes.reduce((sum, {bytes}) => sum + bytes, 0);
		if (before <= limit) return;
		let [sum, evicted] = [before, 0];
		for (const {keeper, bytes} of sizes.sort((one, other) => other.bytes - one.bytes)) {
			if (sum <= limit - limit / PARTS) break;
			keeper.evict();
			sum -= bytes - keeper.keptBytes;
			evicted++;
		}
		this.#options.onEvicted(before - sum, evicted);
	}

	/** The buffers that were not collected. References to others are removed. */
	#live(): Keeper[] {
		return [...this.#keepers].flatMap(reference => {
			const keeper = reference.deref();
			if (!keeper) this.#keepers.delete(reference);
			return keeper ?? [];
		});
	}
}

/** The buffers of this process. */
export const keptBytes = new KeptBytes();
