/** Up to this many slots are kept when the map becomes empty. */
const SHRINK_ABOVE = 1024;

/**
 * An insertion-ordered map for thousands of short-lived entries, such as requests.
 *
 * V8 replaces the table of a Map whenever it is full of deleted entries, and the old table points to the new
 * one. Once an old table is in the old generation, all later tables and everything in them stay alive until
 * the next full garbage collection. The tables of this map contain only keys and numbers.
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

	/** Removes an entry and returns its value. */
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

	/** Returns whether the entry existed. */
	delete(key: Key): boolean {
		return this.take(key) !== undefined;
	}

	clear(): void {
		this.#slots.clear();
		this.#values = [];
		this.#freeSlots = [];
	}

	/** The values, oldest first. Entries may be deleted during iteration. */
	*values(): Generator<Value> {
		for (const slot of this.#slots.values()) {
			const value = this.#values[slot];
			if (value) yield value;
		}
	}
}
