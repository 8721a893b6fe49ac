import {fetchRows} from './api.js';
import {emptyFilter, type PageFilter} from './model.js';
import type {ListedRow} from './types.js';

const PAGE_ROWS = 100;
/** Maximum number of cached pages. The oldest is evicted first. */
const MAX_PAGES = 60;

type Page = {readonly rows: readonly ListedRow[]; isStale: boolean};

/** The rows that match a filter. Pages are fetched on demand. */
export class RowCache {
	filter: PageFilter = emptyFilter;
	/** The number of matching rows. */
	total = 0;
	/** The searched share of the log, from 0 to 1. */
	share = 0;
	readonly #pages = new Map<number, Page>();
	readonly #fetching = new Set<number>();
	/** Whether rows were added while the last page was being fetched, so that its response may lack them. */
	#isOutdated = false;
	/** Incremented by each reset, so that responses to earlier requests are ignored. */
	#resetCount = 0;
	readonly #onLoaded: () => void;

	constructor(onLoaded: () => void) {
		this.#onLoaded = onLoaded;
	}

	/** Discards all pages and applies a filter. */
	reset(filter: PageFilter): void {
		this.filter = filter;
		this.#resetCount++;
		this.#pages.clear();
		this.#fetching.clear();
		this.#isOutdated = false;
		this.total = 0;
		this.share = 0;
		void this.#fetch(0);
	}

	/** Fetches new rows, and marks pages with pending requests as stale. */
	refresh(): void {
		for (const page of this.#pages.values())
			page.isStale ||= page.rows.length < PAGE_ROWS || page.rows.some(({status}) => status === 'open');
		const last = Math.floor(Math.max(0, this.total - 1) / PAGE_ROWS);
		if (this.#fetching.has(last)) this.#isOutdated = true;
		else void this.#fetch(last);
	}

	/** Returns the row at a position if it is cached. Otherwise, fetches its page. */
	at(position: number): ListedRow | undefined {
		const number = Math.floor(position / PAGE_ROWS);
		const page = this.#pages.get(number);
		if (!page || page.isStale) void this.#fetch(number);
		return page?.rows[position % PAGE_ROWS];
	}

	async #fetch(number: number): Promise<void> {
		if (this.#fetching.has(number)) return;
		const resetCount = this.#resetCount;
		this.#fetching.add(number);
		try {
			const {total, share, rows} = await fetchRows(this.filter, number * PAGE_ROWS, PAGE_ROWS);
			if (resetCount !== this.#resetCount) return;
			this.#store(number, rows);
			this.total = total;
			this.share = share;
		} catch {
			// The page shows a lost connection, and refreshes after reconnecting.
		} finally {
			if (resetCount === this.#resetCount) this.#fetching.delete(number);
		}
		if (resetCount !== this.#resetCount) return;
		this.#onLoaded();
		if (!this.#isOutdated) return;
		this.#isOutdated = false;
		this.refresh();
	}

	#store(number: number, rows: readonly ListedRow[]): void {
		this.#pages.delete(number);
		this.#pages.set(number, {rows, isStale: false});
		for (const oldest of this.#pages.keys()) {
			if (this.#pages.size <= MAX_PAGES) break;
			this.#pages.delete(oldest);
		}
	}
}
