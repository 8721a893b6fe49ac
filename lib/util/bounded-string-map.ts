const MAX_CHARACTERS = 2 ** 20;

/** Returns the length of the strings in a value that a peer chose. */
type ValueLength<Value> = (value: Value) => number;

/**
 * A map whose keys are chosen by a peer, such as ids. It evicts its oldest entries when it has too many
 * entries or characters. Without the second limit, ids of the maximum length would use a thousand times the
 * memory of common ids.
 */
export class BoundedStringMap<Value> extends Map<string, Value> {
	readonly #maxEntries: number;
	readonly #maxCharacters: number;
	readonly #lengthOf: ValueLength<Value>;
	#characters = 0;

	constructor(maxEntries: number, maxCharacters = MAX_CHARACTERS, lengthOf: ValueLength<Value> = () => 0) {
		super();
		this.#maxEntries = maxEntries;
		this.#maxCharacters = maxCharacters;
		this.#lengthOf = lengthOf;
	}

	/** The number of characters in all keys and values. */
	get characters(): number {
		return this.#characters;
	}

	override set(key: string, value: Value): this {
		this.delete(key);
		super.set(key, value);
		this.#characters += key.length + this.#lengthOf(value);
		for (const oldest of this.keys()) {
			if (this.size <= this.#maxEntries && this.#characters <= this.#maxCharacters) break;
			this.delete(oldest);
		}
		return this;
	}

	override delete(key: string): boolean {
		const value = this.get(key);
		if (value === undefined) return false;
		this.#characters -= key.length + this.#lengthOf(value);
		return super.delete(key);
	}

	override clear(): void {
		super.clear();
		this.#characters = 0;
	}

	take(key: string): Value | undefined {
		const value = this.get(key);
		this.delete(key);
		return value;
	}
}
