/** Characters of all words that one map keeps, unless another limit is given. */
const MAX_CHARACTERS = 2 ** 20;

/** The words of an entry: its key, and those of its value that a peer chose. */
type ValueLength<Value> = (value: Value) => number;

/**
 * A map whose keys a peer chose, such as ids. It evicts its oldest entries when there are too many of them, or when their
 * words are too long together: many ids of the greatest length must not take a thousand times the memory of common ones.
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

	/** Characters of all words that are kept now. */
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

	/** The entry, which is gone then. */
	take(key: string): Value | undefined {
		const value = this.get(key);
		this.delete(key);
		return value;
	}
}
