/** A map that forgets its oldest entry for the next one when it is full. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
	readonly #limit: number;

	constructor(limit: number) {
		super();
		this.#limit = limit;
	}

	override set(key: Key, value: Value): this {
		super.set(key, value);
		for (const oldest of this.keys()) {
			if (this.size <= this.#limit) break;
			this.delete(oldest);
		}
		return this;
	}

	/** The entry, which is gone then. */
	take(key: Key): Value | undefined {
		const value = this.get(key);
		this.delete(key);
		return value;
	}
}
