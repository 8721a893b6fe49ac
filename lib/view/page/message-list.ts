import {fetchPosition, filterQuery} from './api.js';
import {byId} from './dom.js';
import {formatCount} from './format.js';
import {createRowElement, fillRowElement} from './list-row.js';
import {emptyFilter, model} from './model.js';
import {RowCache} from './row-cache.js';
import {VirtualScroller, type VisibleRows} from './virtual-scroller.js';

const ROW_HEIGHT = 26;

class MessageList {
	readonly #root = byId('list');
	readonly #cache = new RowCache(() => this.#onRowsLoaded());
	readonly #scroller = new VirtualScroller(this.#root, ROW_HEIGHT, visible => this.#draw(visible));
	readonly #rowElements: HTMLElement[] = [];
	/** Positions of the cursor and of the start of the selection among the matching rows. */
	#cursor = -1;
	#anchor = -1;
	/** A position to select as soon as its row is loaded. */
	#pendingPosition: number | undefined;
	#isFollowing = true;

	constructor() {
		this.#root.addEventListener('click', event => this.#click(event));
		this.#root.addEventListener('dblclick', () => model.openDetail(true));
		this.#root.addEventListener('scroll', () => {
			this.#isFollowing = this.#scroller.isAtEnd;
		});
		model.on(['generation', 'filter'], () => this.#reset());
		model.on(['state'], () => this.#cache.refresh());
		model.on(['current'], () => this.#scroller.draw());
	}

	/** Moves the cursor by some rows. The selection follows it, or grows. */
	move(by: number, isExtending: boolean): void {
		this.moveTo(this.#cursor < 0 ? 0 : this.#cursor + by, isExtending);
	}

	moveTo(position: number, isExtending: boolean): void {
		const {total} = this.#cache;
		if (total === 0) return;
		this.#cursor = Math.max(0, Math.min(position, total - 1));
		if (!isExtending || this.#anchor < 0) this.#anchor = this.#cursor;
		this.#isFollowing = this.#cursor === total - 1;
		this.#pendingPosition = this.#cursor;
		this.#scroller.scrollIntoView(this.#cursor);
		this.#selectPending();
		this.#showExport();
	}

	toEnd(isExtending: boolean): void {
		this.moveTo(this.#cache.total - 1, isExtending);
	}

	get pageRows(): number {
		return this.#scroller.visibleRowCount - 1;
	}

	/** Selects a row by its number in the log. Clears the filters if they hide it. */
	async goToRow(row: number): Promise<void> {
		if (row < 0) return;
		const {place: position} = await fetchPosition(model.filter, row);
		const isListed = await this.#isAt(position, row);
		if (!isListed) {
			model.setFilter(emptyFilter);
			this.#cache.total = model.state?.rows ?? 0;
			this.#scroller.total = this.#cache.total;
			this.moveTo(row, false);
		} else this.moveTo(position, false);
	}

	async #isAt(position: number, row: number): Promise<boolean> {
		const {place: next} = await fetchPosition(model.filter, row + 1);
		return next === position + 1;
	}

	#reset(): void {
		this.#cursor = -1;
		this.#anchor = -1;
		this.#pendingPosition = undefined;
		this.#isFollowing = model.state?.isLive ?? false;
		this.#cache.reset(model.filter);
		this.#showExport();
	}

	#onRowsLoaded(): void {
		const {total, share} = this.#cache;
		const hasGrown = this.#scroller.isAtEnd && this.#isFollowing && model.state?.isLive;
		this.#scroller.total = total;
		if (hasGrown && this.#cursor < 0) this.#scroller.scrollIntoView(total - 1);
		this.#root.setAttribute('aria-rowcount', String(total));
		const isFiltered = JSON.stringify(model.filter) !== JSON.stringify(emptyFilter);
		byId('matched').textContent = isFiltered
			? `${formatCount(total)} found${share < 1 ? ` · ${Math.floor(share * 100)} % searched` : ''}`
			: '';
		this.#showEmpty(isFiltered && share === 1);
		this.#selectPending();
		this.#scroller.draw();
		// Polls while the search is incomplete, since no other update may follow.
		if (share < 1) setTimeout(() => this.#cache.refresh(), 150);
	}

	#showEmpty(isFiltered: boolean): void {
		const empty = byId('empty');
		const {state} = model;
		empty.hidden = this.#cache.total > 0 || !state || (!isFiltered && !state.isAtEnd);
		empty.textContent = isFiltered
			? 'No messages match these filters.'
			: state?.isLive
				? 'No traffic yet. New messages will appear here.'
				: 'This log is empty.';
	}

	#selectPending(): void {
		const row = this.#pendingPosition === undefined ? undefined : this.#cache.at(this.#pendingPosition);
		if (!row) return;
		this.#pendingPosition = undefined;
		model.select(row.row, row.conn);
	}

	#click(event: MouseEvent): void {
		const target = event.target instanceof Element ? event.target.closest('.row') : null;
		const position = target instanceof HTMLElement ? Number(target.dataset.place) : Number.NaN;
		if (Number.isNaN(position)) return;
		this.moveTo(position, event.shiftKey);
		if (!event.shiftKey) model.openDetail(true);
	}

	#showExport(): void {
		const query = filterQuery(model.filter);
		const [from, to] = [Math.min(this.#anchor, this.#cursor), Math.max(this.#anchor, this.#cursor)];
		const isSelected = from >= 0 && to > from;
		if (isSelected) {
			query.set('from', String(from));
			query.set('to', String(to));
		}
		const link = byId<HTMLAnchorElement>('export');
		link.href = `/view/export?${query}`;
		link.textContent = isSelected ? `Export ${formatCount(to - from + 1)} rows` : 'Export';
	}

	#draw({first, count: rows, yOf}: VisibleRows): void {
		while (this.#rowElements.length < rows) {
			const newElement = createRowElement();
			this.#rowElements.push(newElement);
			this.#scroller.spacer.append(newElement);
		}
		const [from, to] = [Math.min(this.#anchor, this.#cursor), Math.max(this.#anchor, this.#cursor)];
		this.#rowElements.forEach((rowElement, at) => {
			rowElement.hidden = at >= rows;
			if (rowElement.hidden) return;
			const position = first + at;
			rowElement.style.transform = `translateY(${yOf(position)}px)`;
			rowElement.dataset.place = String(position);
			rowElement.setAttribute('aria-rowindex', String(position + 1));
			fillRowElement(rowElement, this.#cache.at(position), position >= from && position <= to && to > from);
		});
		this.#root.setAttribute('aria-activedescendant', model.current < 0 ? '' : `row-${model.current}`);
	}
}

export const messageList = new MessageList();
