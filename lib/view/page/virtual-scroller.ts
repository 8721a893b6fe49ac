import {element} from './dom.js';

/** Browsers limit the height of elements. */
const MAX_HEIGHT = 15_000_000;

/** The visible rows, and a function that returns the offset of a row in the scrolled element. */
export type VisibleRows = {
	readonly first: number;
	readonly count: number;
	readonly yOf: (row: number) => number;
};

/**
 * Scrolls through any number of rows of equal height and draws only the visible ones. If their total height
 * exceeds the limit, the scroll bar moves proportionally. The wheel and the keys still move by rows.
 */
export class VirtualScroller {
	readonly root: HTMLElement;
	readonly spacer: HTMLElement;
	readonly #rowHeight: number;
	readonly #draw: (visible: VisibleRows) => void;
	#total = 0;
	/** The scroll offset without the height limit. */
	#top = 0;
	#isScheduled = false;

	constructor(root: HTMLElement, rowHeight: number, draw: (visible: VisibleRows) => void) {
		this.root = root;
		this.#rowHeight = rowHeight;
		this.#draw = draw;
		this.spacer = element('div', {class: 'spacer', role: 'presentation'});
		root.append(this.spacer);
		root.addEventListener('scroll', () => this.#onScroll());
		root.addEventListener('wheel', event => this.#onWheel(event), {passive: false});
		new ResizeObserver(() => this.draw()).observe(root);
	}

	get #height(): number {
		return this.#total * this.#rowHeight;
	}

	/** The ratio of the full scroll range to that of the element. */
	get #ratio(): number {
		const view = this.root.clientHeight;
		const scrollRange = Math.min(this.#height, MAX_HEIGHT) - view;
		return scrollRange <= 0 ? 1 : Math.max(1, (this.#height - view) / scrollRange);
	}

	get isAtEnd(): boolean {
		return this.#top + this.root.clientHeight >= this.#height - this.#rowHeight;
	}

	get visibleRowCount(): number {
		return Math.max(1, Math.floor(this.root.clientHeight / this.#rowHeight));
	}

	set total(total: number) {
		if (total === this.#total) return;
		this.#total = total;
		this.spacer.style.height = `${Math.min(this.#height, MAX_HEIGHT)}px`;
		this.draw();
	}

	/** Scrolls by the minimum that makes a row visible. */
	scrollIntoView(row: number): void {
		const [top, bottom] = [row * this.#rowHeight, (row + 1) * this.#rowHeight];
		if (top < this.#top) this.#moveTo(top);
		else if (bottom > this.#top + this.root.clientHeight) this.#moveTo(bottom - this.root.clientHeight);
		this.draw();
	}

	/** Draws the visible rows in the next animation frame. Multiple calls are combined. */
	draw(): void {
		if (this.#isScheduled) return;
		this.#isScheduled = true;
		requestAnimationFrame(() => {
			this.#isScheduled = false;
			const first = Math.max(0, Math.floor(this.#top / this.#rowHeight));
			const count = Math.min(this.#total - first, this.visibleRowCount + 2);
			const shift = this.root.scrollTop - this.#top;
			this.#draw({first, count, yOf: row => row * this.#rowHeight + shift});
		});
	}

	#moveTo(top: number): void {
		this.#top = Math.max(0, Math.min(top, this.#height - this.root.clientHeight));
		this.root.scrollTop = this.#top / this.#ratio;
	}

	#onScroll(): void {
		const expected = this.#top / this.#ratio;
		// The browser rounds the values that were set here.
		if (Math.abs(this.root.scrollTop - expected) > 1) this.#top = this.root.scrollTop * this.#ratio;
		this.draw();
	}

	#onWheel(event: WheelEvent): void {
		if (this.#ratio === 1 || event.ctrlKey) return;
		event.preventDefault();
		const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? this.#rowHeight : 1;
		this.#moveTo(this.#top + event.deltaY * unit);
		this.draw();
	}
}
