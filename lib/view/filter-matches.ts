import {setImmediate as nextTurn} from 'node:timers/promises';
import {BoundedMap} from '../util/bounded-map.js';
import type {LogIndex} from './log-index.js';
import {filterKey, matchesAllRows, type RowFilter, rowPredicate} from './row-filter.js';
import {TextSearch} from './text-search.js';

/** Rows that are looked at before others get their turn. */
const SLICE_ROWS = 2 ** 16;

/** The rows that a filter lets through, in their order, as far as they are known. */
export class FilterMatches {
	readonly #index: LogIndex;
	readonly #predicate: (row: number) => boolean;
	readonly #search: TextSearch | undefined;
	readonly #isAll: boolean;
	#rows = new Uint32Array(1024);
	#count = 0;
	/** Rows that have been looked at. */
	#scannedRows = 0;
	#isRunning = false;
	#isPaused = false;

	constructor(index: LogIndex, filter: RowFilter) {
		this.#index = index;
		this.#predicate = rowPredicate(index, filter);
		this.#isAll = matchesAllRows(filter);
		this.#search = filter.text === undefined ? undefined : new TextSearch(index, filter.text);
	}

	get count(): number {
		return this.#isAll ? this.#index.columns.count : this.#count;
	}

	/** How much of what is indexed has been looked at, from 0 to 1. */
	get share(): number {
		const {columns, progress} = this.#index;
		if (this.#isAll) return 1;
		if (!this.#search) return columns.count === 0 ? 1 : this.#scannedRows / columns.count;
		const end = progress.readBytes - progress.tailBytes;
		return end === 0 ? 1 : Math.min(1, this.#search.position / end);
	}

	row(at: number): number {
		return this.#isAll ? at : (this.#rows[at] ?? 0);
	}

	/** Where a row is among them, or where it would be. */
	positionOf(row: number): number {
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
		while (!this.#isPaused && this.#scanSlice()) await nextTurn();
		this.#isRunning = false;
	}

	/** Has it wait until somebody asks again: who types asks for many things, and wants the last. */
	pause(): void {
		this.#isPaused = true;
	}

	#scanSlice(): boolean {
		if (this.#search) {
			const found = this.#search.step();
			for (const row of found ?? []) if (this.#predicate(row)) this.#add(row);
			return found !== undefined;
		}
		const end = Math.min(this.#scannedRows + SLICE_ROWS, this.#index.columns.count);
		if (this.#scannedRows === end) return false;
		for (; this.#scannedRows < end; this.#scannedRows++)
			if (this.#predicate(this.#scannedRows)) this.#add(this.#scannedRows);
		return true;
	}

	#add(row: number): void {
		if (this.#count === this.#rows.length) {
			const larger = new Uint32Array(this.#rows.length * 2);
			larger.set(this.#rows);
			this.#rows = larger;
		}
		this.#rows[this.#count++] = row;
	}
}

/** Filters that are remembered. The oldest is forgotten for the next. */
const MAX_FILTERS = 8;

/** What each filter lets through, for those that were asked for last. */
export class MatchesCache {
	readonly #index: LogIndex;
	readonly #byKey = new BoundedMap<string, FilterMatches>(MAX_FILTERS);

	constructor(index: LogIndex) {
		this.#index = index;
	}

	/** What a filter lets through. It is told to go on with what is new, and has looked at the first of it. */
	matchesFor(filter: RowFilter): FilterMatches {
		const key = filterKey(filter);
		const matches = this.#byKey.take(key) ?? new FilterMatches(this.#index, filter);
		// Behind all others, it is the last to be forgotten.
		for (const other of this.#byKey.values()) other.pause();
		this.#byKey.set(key, matches);
		void matches.advance();
		return matches;
	}
}
