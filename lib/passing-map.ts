/** Room for so many entries is kept when the last one has gone. */
const KEPT = 1024;

/**
 * A map for what comes and goes by the thousand, as requests do, with its entries in the order in which they came.
 *
 * V8 gives a Map another table whenever the one that it has is full of deleted entries, and the old table points to the new
 * one. As soon as one such table counts as old, all that come after it are kept for its sake, with everything that they
 * hold, until the next full garbage collection: nearly all that ever passes. Here they hold nothing but keys and numbers.
 */
export class PassingMap<Key extends string | number, Value extends object> {
	readonly #places = new Map<Key, number>();
	#values: Array<Value | undefined> = [];
	#free: number[] = [];

	get size(): number {
		return this.#places.size;
	}

	has(key: Key): boolean {
		return this.#places.has(key);
	}

	get(key: Key): Value | undefined {
		const place = this.#places.get(key);
		return place === undefined ? undefined : this.#values[place];
	}

	set(key: Key, value: Value): void {
		const place = this.#places.get(key) ?? this.#free.pop() ?? this.#values.length;
		this.#values[place] = value;
		this.#places.set(key, place);
	}

	/** The entry, which is gone then. */
	take(key: Key): Value | undefined {
		const place = this.#places.get(key);
		if (place === undefined) return;
		const value = this.#values[place];
		this.#places.delete(key);
		this.#values[place] = undefined;
		this.#free.push(place);
		if (this.#places.size === 0 && this.#values.length > KEPT) this.clear();
		return value;
	}

	/** Returns whether it was there. */
	delete(key: Key): boolean {
		return this.take(key) !== undefined;
	}

	clear(): void {
		this.#places.clear();
		this.#values = [];
		this.#free = [];
	}

	/** Entries may go while others are looked at. */
	*values(): Generator<Value> {
		for (const place of this.#places.values()) {
			const value = this.#values[place];
			if (value) yield value;
		}
	}
}
