const MIB = 2 ** 20;
export const KEPT_BYTES = 256 * MIB;
/** The sum is checked after each of this many parts of the limit were added, and eviction leaves one part free. */
const PARTS = 8;

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
	#growth = 0;
	#check: NodeJS.Immediate | undefined;

	configure(options: KeptBytesOptions): void {
		this.#options = options;
	}

	/** To be called once for each buffer. */
	register(keeper: Keeper): void {
		this.#keepers.add(new WeakRef(keeper));
	}

	/** To be called with the size of each addition. The check is made later, since the caller is in the middle of its own. */
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
		const sizes = this.#sizes();
		let sum = sizes.reduce((total, {bytes}) => total + bytes, 0);
		if (sum <= limit) return;
		const before = sum;
		let evicted = 0;
		for (const {keeper, bytes} of sizes.sort((one, other) => other.bytes - one.bytes)) {
			if (sum <= limit - limit / PARTS) break;
			keeper.evict();
			sum -= bytes;
			evicted++;
		}
		this.#options.onEvicted(before - sum, evicted);
	}

	#sizes(): Array<{readonly keeper: Keeper; readonly bytes: number}> {
		return [...this.#keepers].flatMap(reference => {
			const keeper = reference.deref();
			if (keeper) return [{keeper, bytes: keeper.keptBytes}];
			this.#keepers.delete(reference);
			return [];
		});
	}
}

/** The buffers of this process. */
export const keptBytes = new KeptBytes();
