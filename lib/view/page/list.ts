import {fetchPlace, queryOf} from './api.js';
import {byId} from './dom.js';
import {count} from './format.js';
import {fillRow, newRow} from './list-row.js';
import {model, noFilter} from './model.js';
import {RowCache} from './row-cache.js';
import {Scroller, type Stretch} from './scroller.js';

const ROW_HEIGHT = 26;

/** The list of messages. */
class List {
	readonly #root = byId('list');
	readonly #cache = new RowCache(() => this.#news());
	readonly #scroller = new Scroller(this.#root, ROW_HEIGHT, stretch => this.#draw(stretch));
	readonly #drawn: HTMLElement[] = [];
	/** Where the cursor is among the rows in the list, and where the selection began. */
	#place = -1;
	#anchor = -1;
	/** A place that is to be chosen as soon as its row is there. */
	#wanted: number | undefined;
	#isFollowing = true;

	constructor() {
		this.#root.addEventListener('click', event => this.#click(event));
		this.#root.addEventListener('dblclick', () => model.openDetail(true));
		this.#root.addEventListener('scroll', () => {
			this.#isFollowing = this.#scroller.isAtEnd;
		});
		model.on(['generation', 'filter'], () => this.#begin());
		model.on(['state'], () => this.#cache.refresh());
		model.on(['current'], () => this.#scroller.draw());
	}

	/** Moves the cursor, and with it the selection unless that is to grow. */
	move(by: number, isGrowing: boolean): void {
		this.moveTo(this.#place < 0 ? 0 : this.#place + by, isGrowing);
	}

	moveTo(place: number, isGrowing: boolean): void {
		const {total} = this.#cache;
		if (total === 0) return;
		this.#place = Math.max(0, Math.min(place, total - 1));
		if (!isGrowing || this.#anchor < 0) this.#anchor = this.#place;
		this.#isFollowing = this.#place === total - 1;
		this.#wanted = this.#place;
		this.#scroller.show(this.#place);
		this.#choose();
		this.#showExport();
	}

	toEnd(isGrowing: boolean): void {
		this.moveTo(this.#cache.total - 1, isGrowing);
	}

	get page(): number {
		return this.#scroller.rowsInSight - 1;
	}

	/** Goes to a row by its number in the log, also if the filters have to go for that. */
	async goTo(row: number): Promise<void> {
		if (row < 0) return;
		const {place} = await fetchPlace(model.filter, row);
		const isThere = await this.#isAt(place, row);
		if (!isThere) {
			model.setFilter(noFilter);
			this.#cache.total = model.state?.rows ?? 0;
			this.#scroller.total = this.#cache.total;
			this.moveTo(row, false);
		} else this.moveTo(place, false);
	}

	async #isAt(place: number, row: number): Promise<boolean> {
		const {place: next} = await fetchPlace(model.filter, row + 1);
		return next === place + 1;
	}

	#begin(): void {
		this.#place = -1;
		this.#anchor = -1;
		this.#wanted = undefined;
		this.#isFollowing = model.state?.isLive ?? false;
		this.#cache.reset(model.filter);
		this.#showExport();
	}

	#news(): void {
		const {total, share} = this.#cache;
		const hasGrown = this.#scroller.isAtEnd && this.#isFollowing && model.state?.isLive;
		this.#scroller.total = total;
		if (hasGrown && this.#place < 0) this.#scroller.show(total - 1);
		this.#root.setAttribute('aria-rowcount', String(total));
		const isFiltered = JSON.stringify(model.filter) !== JSON.stringify(noFilter);
		byId('matched').textContent = isFiltered
			? `${count(total)} found${share < 1 ? ` · ${Math.floor(share * 100)} % searched` : ''}`
			: '';
		this.#tellEmpty(isFiltered && share === 1);
		this.#choose();
		this.#scroller.draw();
		// What is being searched for is asked for again, as nothing else may be new.
		if (share < 1) setTimeout(() => this.#cache.refresh(), 150);
	}

	#tellEmpty(isFiltered: boolean): void {
		const empty = byId('empty');
		const {state} = model;
		empty.hidden = this.#cache.total > 0 || !state || (!isFiltered && !state.isAtEnd);
		empty.textContent = isFiltered
			? 'Nothing is let through by these filters.'
			: state?.isLive
				? 'Nothing has passed yet. What passes from now on turns up here.'
				: 'There is nothing in this log.';
	}

	#choose(): void {
		const row = this.#wanted === undefined ? undefined : this.#cache.at(this.#wanted);
		if (!row) return;
		this.#wanted = undefined;
		model.choose(row.row, row.conn);
	}

	#click(event: MouseEvent): void {
		const target = event.target instanceof Element ? event.target.closest('.row') : null;
		const place = target instanceof HTMLElement ? Number(target.dataset.place) : Number.NaN;
		if (Number.isNaN(place)) return;
		this.moveTo(place, event.shiftKey);
		if (!event.shiftKey) model.openDetail(true);
	}

	#showExport(): void {
		const query = queryOf(model.filter);
		const [from, to] = [Math.min(this.#anchor, this.#place), Math.max(this.#anchor, this.#place)];
		const isChosen = from >= 0 && to > from;
		if (isChosen) {
			query.set('from', String(from));
			query.set('to', String(to));
		}
		const link = byId<HTMLAnchorElement>('export');
		link.href = `/view/export?${query}`;
		link.textContent = isChosen ? `Export ${count(to - from + 1)} rows` : 'Export';
	}

	#draw({first, count: rows, yOf}: Stretch): void {
		while (this.#drawn.length < rows) {
			const made = newRow();
			this.#drawn.push(made);
			this.#scroller.spacer.append(made);
		}
		const [from, to] = [Math.min(this.#anchor, this.#place), Math.max(this.#anchor, this.#place)];
		this.#drawn.forEach((drawn, at) => {
			drawn.hidden = at >= rows;
			if (drawn.hidden) return;
			const place = first + at;
			drawn.style.transform = `translateY(${yOf(place)}px)`;
			drawn.dataset.place = String(place);
			drawn.setAttribute('aria-rowindex', String(place + 1));
			fillRow(drawn, this.#cache.at(place), place >= from && place <= to && to > from);
		});
		this.#root.setAttribute('aria-activedescendant', model.current < 0 ? '' : `row-${model.current}`);
	}
}

export const list = new List();
