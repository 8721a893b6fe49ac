import {element} from './dom.js';

/** Browsers have no elements that are much higher. */
const MAX_HEIGHT = 15_000_000;

/** What is to be drawn: the first row and how many, and where a row is in the element that scrolls. */
export type VisibleRows = {
	readonly first: number;
	readonly count: number;
	readonly yOf: (row: number) => number;
};

/**
 * Scrolls over any number of rows of one height, of which only those in sight are drawn. Where they are higher together than an
 * element can be, the bar moves in proportion, and the wheel and keys by rows still.
 */
export class VirtualScroller {
	readonly root: HTMLElement;
	readonly spacer: HTMLElement;
	readonly #rowHeight: number;
	readonly #draw: (stretch: VisibleRows) => void;
	#total = 0;
	/** How far it is scrolled, if nothing were too high. */
	#top = 0;
	#isScheduled = false;

	constructor(root: HTMLElement, rowHeight: number, draw: (stretch: VisibleRows) => void) {
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

	/** How much more there is than the element has room for. */
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

	/** Scrolls as little as it takes to have a row in sight. */
	scrollIntoView(row: number): void {
		const [top, bottom] = [row * this.#rowHeight, (row + 1) * this.#rowHeight];
		if (top < this.#top) this.#moveTo(top);
		else if (bottom > this.#top + this.root.clientHeight) this.#moveTo(bottom - this.root.clientHeight);
		this.draw();
	}

	/** Draws what is in sight, soon, and once. */
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
		// What was set here comes back rounded.
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
