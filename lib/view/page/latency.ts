import {fetchLatency} from './api.js';
import {byId, drawn, element} from './dom.js';
import {clock, count, dayAndClock, duration} from './format.js';
import {list} from './list.js';
import {model} from './model.js';
import type {LatencyOverTime, Stretch} from './types.js';

const PARTS = 160;
/** Room for numbers on the left, for times below, and for the counts above those. */
const [LEFT, BOTTOM, COUNTS] = [64, 22, 60];
const AGAIN_MS = 1000;

/** How long answers took, over time. */
class Latency {
	readonly #root = byId('latency');
	#found: LatencyOverTime | undefined;
	#isAsking = false;
	#askedAt = 0;

	constructor() {
		model.on(['filter', 'generation', 'view'], () => void this.#ask());
		model.on(['state'], () => {
			if (performance.now() - this.#askedAt > AGAIN_MS) void this.#ask();
		});
		new ResizeObserver(() => this.#draw()).observe(this.#root);
	}

	async #ask(): Promise<void> {
		if (model.view !== 'latency' || this.#isAsking) return;
		this.#isAsking = true;
		this.#askedAt = performance.now();
		try {
			this.#found = await fetchLatency(model.filter, PARTS);
			this.#draw();
		} catch {
			// It is asked again when there is something new.
		} finally {
			this.#isAsking = false;
		}
	}

	#draw(): void {
		const found = this.#found;
		if (model.view !== 'latency' || !found) return;
		const {stretches} = found;
		const sum = stretches.reduce((all, {count: some}) => all + some, 0);
		const worst = stretches.reduce((most, {max}) => Math.max(most, max), 0);
		const told = element('p', {role: 'status'}, '');
		const summary =
			sum === 0
				? 'No request here has an answer.'
				: `${count(sum)} answers between ${dayAndClock(found.from)} and ${dayAndClock(found.to)}, the slowest in ${duration(worst)}. Click to see the slowest of a stretch.`;
		told.textContent = summary;
		const svg = drawn('svg', {role: 'img', 'aria-label': summary});
		this.#root.replaceChildren(element('h2', {}, 'Latency over time'), told, legend(), svg);
		if (sum > 0)
			new Chart(svg, found, worst, text => {
				told.textContent = text ?? summary;
			}).draw();
	}
}

const legend = (): HTMLElement =>
	element(
		'div',
		{class: 'key-list', 'aria-hidden': 'true'},
		...[
			['k-median', 'median'],
			['k-high', '95 of 100'],
			['k-max', 'slowest'],
			['k-errors', 'errors'],
		].map(([name, text]) => element('span', {}, element('i', {class: name}), text)),
	);

class Chart {
	readonly #svg: SVGSVGElement;
	readonly #found: LatencyOverTime;
	readonly #width: number;
	readonly #height: number;
	readonly #low: number;
	readonly #high: number;
	readonly #tell: (text: string | undefined) => void;

	constructor(
		svg: SVGSVGElement,
		found: LatencyOverTime,
		worst: number,
		tell: (text: string | undefined) => void,
	) {
		this.#svg = svg;
		this.#found = found;
		this.#tell = tell;
		const {width, height} = svg.getBoundingClientRect();
		this.#width = Math.max(200, width);
		this.#height = Math.max(120, height);
		const least = Math.min(...found.stretches.map(({median}) => median));
		this.#low = Math.floor(Math.log10(Math.max(1, least)));
		this.#high = Math.max(this.#low + 1, Math.ceil(Math.log10(Math.max(1, worst))));
	}

	draw(): void {
		const {stretches} = this.#found;
		const back = [...stretches].reverse().map(each => `${this.#x(each)},${this.#y(each.median)}`);
		const area = [...stretches.map(each => `${this.#x(each)},${this.#y(each.high)}`), ...back].join(' ');
		const cross = drawn('line', {class: 'cross', y1: 0, y2: this.#height - BOTTOM, visibility: 'hidden'});
		this.#svg.replaceChildren(
			...this.#grid(),
			...this.#times(),
			...this.#bars(),
			drawn('polygon', {class: 'high', points: area}),
			drawn('path', {class: 'median', d: this.#line()}),
			...stretches.map(each =>
				drawn('circle', {class: 'max', cx: this.#x(each), cy: this.#y(each.max), r: 2}),
			),
			...stretches.map(each =>
				drawn('circle', {class: 'middle', cx: this.#x(each), cy: this.#y(each.median), r: 1.8}),
			),
			cross,
		);
		this.#svg.addEventListener('pointermove', ({offsetX}) => this.#point(cross, this.#nearest(offsetX)));
		this.#svg.addEventListener('pointerleave', () => {
			cross.setAttribute('visibility', 'hidden');
			this.#tell(undefined);
		});
		this.#svg.addEventListener('click', ({offsetX}) => {
			const stretch = this.#nearest(offsetX);
			if (!stretch) return;
			model.setView('list');
			model.openDetail(true);
			void list.goTo(stretch.row);
		});
	}

	#x({time}: {readonly time: number}): number {
		const {from, to} = this.#found;
		return LEFT + ((time - from) / Math.max(1, to - from)) * (this.#width - LEFT - 12);
	}

	#y(latency: number): number {
		const share = (Math.log10(Math.max(1, latency)) - this.#low) / (this.#high - this.#low);
		const bottom = this.#height - BOTTOM - COUNTS;
		return bottom - Math.max(0, share) * (bottom - 12);
	}

	/** The median as a line, which is broken where nothing was answered for a while. */
	#line(): string {
		const {from, to, stretches} = this.#found;
		const far = (2.5 * (to - from)) / PARTS;
		return stretches
			.map((each, at) => {
				const before = stretches[at - 1];
				const isFar = !before || each.time - before.time > far;
				return `${isFar ? 'M' : 'L'}${this.#x(each)} ${this.#y(each.median)}`;
			})
			.join('');
	}

	#grid(): SVGElement[] {
		return Array.from({length: this.#high - this.#low + 1}, (_, at) => {
			const value = 10 ** (this.#low + at);
			const y = this.#y(value);
			return drawn(
				'g',
				{},
				drawn('line', {class: 'grid', x1: LEFT, x2: this.#width, y1: y, y2: y}),
				drawn('text', {class: 'soft', x: LEFT - 8, y: y + 4, 'text-anchor': 'end'}, duration(value)),
			);
		});
	}

	#times(): SVGElement[] {
		const {from, to} = this.#found;
		return [0, 0.25, 0.5, 0.75, 1].map(share => {
			const time = from + share * (to - from);
			const anchor = share === 0 ? 'start' : share === 1 ? 'end' : 'middle';
			return drawn(
				'text',
				{class: 'soft', x: this.#x({time}), y: this.#height - 5, 'text-anchor': anchor},
				clock(time),
			);
		});
	}

	/** How many answers there were, and how many errors among them. */
	#bars(): SVGElement[] {
		const most = Math.max(...this.#found.stretches.map(each => each.count));
		const width = Math.max(1, (this.#width - LEFT - 12) / PARTS - 1);
		const bar = (name: string, stretch: Stretch, value: number): SVGElement => {
			const height = (value / most) * (COUNTS - 14);
			return drawn('rect', {
				class: name,
				x: this.#x(stretch),
				y: this.#height - BOTTOM - height,
				width,
				height,
			});
		};
		return this.#found.stretches.flatMap(each => [
			bar('calls', each, each.count),
			bar('errors', each, each.errors),
		]);
	}

	#nearest(x: number): Stretch | undefined {
		return this.#found.stretches.reduce<Stretch | undefined>(
			(best, each) => (!best || Math.abs(this.#x(each) - x) < Math.abs(this.#x(best) - x) ? each : best),
			undefined,
		);
	}

	#point(cross: SVGElement, stretch: Stretch | undefined): void {
		if (!stretch) return;
		const x = this.#x(stretch);
		cross.setAttribute('visibility', 'visible');
		cross.setAttribute('x1', String(x));
		cross.setAttribute('x2', String(x));
		const {time, count: calls, errors, median, high, max} = stretch;
		const failed = errors === 0 ? '' : `, errors: ${count(errors)}`;
		this.#tell(
			`${dayAndClock(time)} · answers: ${count(calls)}${failed} · median ${duration(median)} · 95 of 100 within ${duration(high)} · slowest ${duration(max)}`,
		);
	}
}

export const latency = new Latency();
