import {isOptimized} from '../../util/optimizations.js';

/** Up to this many slots are kept when the map becomes empty. */
const SHRINK_ABOVE = 1024;

/** A map with the part of the interface that both implementations have. */
export type SlotMap<Key extends string | number, Value extends object> = {
	readonly size: number;
	has(key: Key): boolean;
	get(key: Key): Value | undefined;
	set(key: Key, value: Value): unknown;
	/** Removes an entry and returns its value. */
	take(key: Key): Value | undefined;
	/** Returns whether the entry existed. */
	delete(key: Key): boolean;
	clear(): void;
	/** The values. Entries may be deleted during iteration. */
	values(): Iterable<Value>;
};

/**
 * An insertion-ordered map for thousands of short-lived entries, such as requests.
 *
 * V8 replaces the table of a Map whenever it is full of deleted entries, and the old table points to the new
 * one. Once an old table is in the old generation, all later tables and everything in them stay alive until
 * the next full garbage collection. The tables of this map contain only keys and numbers.
 */
class SlotTable<Key extends string | number, Value extends object> {
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

	delete(key: Key): boolean {
		return this.take(key) !== undefined;
	}

	clear(): void {
		this.#slots.clear();
		this.#values = [];
		this.#freeSlots = [];
	}

	*values(): Generator<Value> {
		for (const slot of this.#slots.values()) {
			const value = this.#values[slot];
			if (value) yield value;
		}
	}
}

/** The same on a Map of V8. */
class PlainMap<Key extends string | number, Value extends object> extends Map<Key, Value> {
	take(key: Key): Value | undefined {
		const value = this.get(key);
		this.delete(key);
		return value;
	}
}

export const SlotMap: new <Key extends string | number, Value extends object>() => SlotMap<Key, Value> =
	isOptimized('slot-map') ? SlotTable : PlainMap;
