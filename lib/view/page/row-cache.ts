import {fetchRows} from './api.js';
import {type Filter, noFilter} from './model.js';
import type {ListedRow} from './types.js';

const PAGE = 100;
/** Pages that are kept. The oldest is forgotten for the next. */
const MAX_PAGES = 60;

type Page = {readonly rows: readonly ListedRow[]; isStale: boolean};

/** The rows that a filter lets through, fetched page by page where they are looked at. */
export class RowCache {
	filter: Filter = noFilter;
	/** How many there are. */
	total = 0;
	/** How much has been looked at for that, from 0 to 1. */
	share = 0;
	readonly #pages = new Map<number, Page>();
	readonly #asked = new Set<number>();
	/** Whether rows were added while the last page was being fetched, so that its response may lack them. */
	#isOutdated = false;
	/** Counts up when all that was asked for is of no more use. */
	#round = 0;
	readonly #onNews: () => void;

	constructor(onNews: () => void) {
		this.#onNews = onNews;
	}

	/** Begins anew. */
	reset(filter: Filter): void {
		this.filter = filter;
		this.#round++;
		this.#pages.clear();
		this.#asked.clear();
		this.#isOutdated = false;
		this.total = 0;
		this.share = 0;
		void this.#fetch(0);
	}

	/** There may be more, and answers to what had none. */
	refresh(): void {
		for (const page of this.#pages.values())
			page.isStale ||= page.rows.length < PAGE || page.rows.some(({status}) => status === 'open');
		const last = Math.floor(Math.max(0, this.total - 1) / PAGE);
		if (this.#asked.has(last)) this.#isOutdated = true;
		else void this.#fetch(last);
	}

	/** The row at a place, if it is there already; else it is asked for. */
	at(place: number): ListedRow | undefined {
		const number = Math.floor(place / PAGE);
		const page = this.#pages.get(number);
		if (!page || page.isStale) void this.#fetch(number);
		return page?.rows[place % PAGE];
	}

	async #fetch(number: number): Promise<void> {
		if (this.#asked.has(number)) return;
		const round = this.#round;
		this.#asked.add(number);
		try {
			const {total, share, rows} = await fetchRows(this.filter, number * PAGE, PAGE);
			if (round !== this.#round) return;
			this.#keep(number, rows);
			this.total = total;
			this.share = share;
		} catch {
			// The page says that nobody answers, and asks again when somebody does.
		} finally {
			if (round === this.#round) this.#asked.delete(number);
		}
		if (round !== this.#round) return;
		this.#onNews();
		if (!this.#isOutdated) return;
		this.#isOutdated = false;
		this.refresh();
	}

	#keep(number: number, rows: readonly ListedRow[]): void {
		this.#pages.delete(number);
		this.#pages.set(number, {rows, isStale: false});
		for (const oldest of this.#pages.keys()) {
			if (this.#pages.size <= MAX_PAGES) break;
			this.#pages.delete(oldest);
		}
	}
}
