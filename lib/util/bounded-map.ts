/** A map that evicts its oldest entry when it is full. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
	readonly #limit: number;

	constructor(limit: number) {
		super();
		this.#limit = limit;
	}

	override set(key: Key, value: Value): this {
		super.set(key, value);
		if (this.size > this.#limit) this.#evictOldest();
		return this;
	}

	#evictOldest(): void {
		for (const oldest of this.keys()) {
			this.delete(oldest);
			return;
		}
	}

	take(key: Key): Value | undefined {
		const value = this.get(key);
		this.delete(key);
		return value;
	}
}
