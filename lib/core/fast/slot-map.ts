/** Room for so many entries is kept when the last one has gone. */
const SHRINK_ABOVE = 1024;

/**
 * A map for what comes and goes by the thousand, as requests do, with its entries in the order in which they came.
 *
 * V8 gives a Map another table whenever the one that it has is full of deleted entries, and the old table points to the new
 * one. As soon as one such table counts as old, all that come after it are kept for its sake, with everything that they
 * hold, until the next full garbage collection: nearly all that ever passes. Here they hold nothing but keys and numbers.
 */
export class SlotMap<Key extends string | number, Value extends object> {
	readonly #slots = new Map<Key, number>();
	#values: Array<Value | undefined> = [];
	#freeSlots: number[] = [];

	get size(): number {
		return this.#slots.size;
	}

	has(key: Key): boolean {
		return this.#slots.has(key);
	}

	get(key: Key): Value | undefined {
		const slot = this.#slots.get(key);
		return slot === undefined ? undefined : this.#values[slot];
	}

	set(key: Key, value: Value): void {
		const slot = this.#slots.get(key) ?? this.#freeSlots.pop() ?? this.#values.length;
		this.#values[slot] = value;
		this.#slots.set(key, slot);
	}

	/** The entry, which is gone then. */
	take(key: Key): Value | undefined {
		const slot = this.#slots.get(key);
		if (slot === undefined) return;
		const value = this.#values[slot];
		this.#slots.delete(key);
		this.#values[slot] = undefined;
		this.#freeSlots.push(slot);
		if (this.#slots.size === 0 && this.#values.length > SHRINK_ABOVE) this.clear();
		return value;
	}

	/** Returns whether it was there. */
	delete(key: Key): boolean {
		return this.take(key) !== undefined;
	}

	clear(): void {
		this.#slots.clear();
		this.#values = [];
		this.#freeSlots = [];
	}

	/** Entries may go while others are looked at. */
	*values(): Generator<Value> {
		for (const slot of this.#slots.values()) {
			const value = this.#values[slot];
			if (value) yield value;
		}
	}
}
