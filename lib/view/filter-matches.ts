import {setImmediate as nextTurn} from 'node:timers/promises';
import {BoundedMap} from '../util/bounded-map.js';
import type {LogIndex} from './log-index.js';
import {filterKey, matchesAllRows, type RowFilter, rowPredicate} from './row-filter.js';
import {TextSearch} from './text-search.js';

/** Rows scanned before other tasks get a turn. */
const SLICE_ROWS = 2 ** 16;

/** The rows that match a filter, in log order. Grows while the log is scanned. */
export class FilterMatches {
	readonly #index: LogIndex;
	readonly #predicate: (row: number) => boolean;
	readonly #search: TextSearch | undefined;
	readonly #isAll: boolean;
	#rows = new Uint32Array(1024);
	#count = 0;
	/** The number of scanned rows. */
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

	/** The scanned share of the index, from 0 to 1. */
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

	/** The position of a row among the matches, or its insertion position. */
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

	/** Scans new rows in slices and yields between them. The first slice is scanned synchronously. */
	async advance(): Promise<void> {
		this.#isPaused = false;
		if (this.#isRunning || this.#isAll) return;
		this.#isRunning = true;
		while (!this.#isPaused && this.#scanSlice()) await nextTurn();
		this.#isRunning = false;
	}

	/**
	 * Stops scanning until the next `advance`. Typing creates many filters, and only the last one matters.
	 */
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

/** Maximum number of cached filters. The oldest is evicted first. */
const MAX_FILTERS = 8;

/** The matches of the most recently used filters. */
export class MatchesCache {
	readonly #index: LogIndex;
	readonly #byKey = new BoundedMap<string, FilterMatches>(MAX_FILTERS);

	constructor(index: LogIndex) {
		this.#index = index;
	}

	/** Returns the matches of a filter, continues its scan and pauses the scans of all other filters. */
	matchesFor(filter: RowFilter): FilterMatches {
		const key = filterKey(filter);
		const matches = this.#byKey.take(key) ?? new FilterMatches(this.#index, filter);
		// Inserted last, so that it is evicted last.
		for (const other of this.#byKey.values()) other.pause();
		this.#byKey.set(key, matches);
		void matches.advance();
		return matches;
	}
}
