import {setImmediate as nextTurn} from 'node:timers/promises';
import {BoundedMap} from '../bounded-map.js';
import {type Filter, isAll, keyOf, predicate} from './filter.js';
import type {LogIndex} from './log-index.js';
import {TextSearch} from './text-search.js';

/** Rows that are looked at before others get their turn. */
const SLICE = 2 ** 16;

/** The rows that a filter lets through, in their order, as far as they are known. */
export class Matches {
	readonly #index: LogIndex;
	readonly #isWanted: (row: number) => boolean;
	readonly #search: TextSearch | undefined;
	readonly #isAll: boolean;
	#rows = new Uint32Array(1024);
	#count = 0;
	/** Rows that have been looked at. */
	#seen = 0;
	#isRunning = false;
	#isPaused = false;

	constructor(index: LogIndex, filter: Filter) {
		this.#index = index;
		this.#isWanted = predicate(index, filter);
		this.#isAll = isAll(filter);
		this.#search = filter.text === undefined ? undefined : new TextSearch(index, filter.text);
	}

	get count(): number {
		return this.#isAll ? this.#index.columns.count : this.#count;
	}

	/** How much of what is indexed has been looked at, from 0 to 1. */
	get share(): number {
		const {columns, progress} = this.#index;
		if (this.#isAll) return 1;
		if (!this.#search) return columns.count === 0 ? 1 : this.#seen / columns.count;
		const end = progress.readBytes - progress.tailBytes;
		return end === 0 ? 1 : Math.min(1, this.#search.position / end);
	}

	row(at: number): number {
		return this.#isAll ? at : (this.#rows[at] ?? 0);
	}

	/** Where a row is among them, or where it would be. */
	placeOf(row: number): number {
		if (this.#isAll) return row;
		let [low, high] = [0, this.#count];
		while (low < high) {
			const middle = (low + high) >>> 1;
			if (this.row(middle) < row) low = middle + 1;
			else high = middle;
		}
		return low;
	}

	/** Looks at what is new, for no longer than it takes until others have their turn; and goes on after that. */
	async advance(): Promise<void> {
		this.#isPaused = false;
		if (this.#isRunning || this.#isAll) return;
		this.#isRunning = true;
		while (!this.#isPaused && this.#step()) await nextTurn();
		this.#isRunning = false;
	}

	/** Has it wait until somebody asks again: who types asks for many things, and wants the last. */
	pause(): void {
		this.#isPaused = true;
	}

	#step(): boolean {
		if (this.#search) {
			const found = this.#search.step();
			for (const row of found ?? []) if (this.#isWanted(row)) this.#add(row);
			return found !== undefined;
		}
		const end = Math.min(this.#seen + SLICE, this.#index.columns.count);
		if (this.#seen === end) return false;
		for (; this.#seen < end; this.#seen++) if (this.#isWanted(this.#seen)) this.#add(this.#seen);
		return true;
	}

	#add(row: number): void {
		if (this.#count === this.#rows.length) {
			const more = new Uint32Array(this.#rows.length * 2);
			more.set(this.#rows);
			this.#rows = more;
		}
		this.#rows[this.#count++] = row;
	}
}

/** Filters that are remembered. The oldest is forgotten for the next. */
const MAX_FILTERS = 8;

/** What each filter lets through, for those that were asked for last. */
export class AllMatches {
	readonly #index: LogIndex;
	readonly #byKey = new BoundedMap<string, Matches>(MAX_FILTERS);

	constructor(index: LogIndex) {
		this.#index = index;
	}

	/** What a filter lets through. It is told to go on with what is new, and has looked at the first of it. */
	of(filter: Filter): Matches {
		const key = keyOf(filter);
		const matches = this.#byKey.take(key) ?? new Matches(this.#index, filter);
		// Behind all others, it is the last to be forgotten.
		for (const other of this.#byKey.values()) other.pause();
		this.#byKey.set(key, matches);
		void matches.advance();
		return matches;
	}
}
