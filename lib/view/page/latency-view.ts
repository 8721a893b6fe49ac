import {fetchLatency} from './api.js';
import {byId, element, svgElement} from './dom.js';
import {formatClockTime, formatCount, formatDateTime, formatMicroseconds} from './format.js';
import {messageList} from './message-list.js';
import {model} from './model.js';
import type {LatencyInterval, LatencyOverTime} from './types.js';

const INTERVALS = 160;
/** Margins in pixels: left for the scale, bottom for times, and the height of the counts above those. */
const [LEFT_MARGIN, BOTTOM_MARGIN, COUNT_HEIGHT] = [64, 22, 60];
const REFRESH_INTERVAL_MS = 1000;

/** A chart of latencies over time. */
class LatencyView {
	readonly #root = byId('latency');
	#data: LatencyOverTime | undefined;
	#isFetching = false;
	#fetchedAt = 0;

	constructor() {
		model.on(['filter', 'generation', 'view'], () => void this.#fetch());
		model.on(['state'], () => {
			if (performance.now() - this.#fetchedAt > REFRESH_INTERVAL_MS) void this.#fetch();
		});
		new ResizeObserver(() => this.#draw()).observe(this.#root);
	}

	async #fetch(): Promise<void> {
		if (model.view !== 'latency' || this.#isFetching) return;
		this.#isFetching = true;
		this.#fetchedAt = performance.now();
		try {
			this.#data = await fetchLatency(model.filter, INTERVALS);
			this.#draw();
		} catch {
			// The next change triggers another attempt.
		} finally {
			this.#isFetching = false;
		}
	}

	#draw(): void {
		const data = this.#data;
		if (model.view !== 'latency' || !data) return;
		const {stretches} = data;
		const sum = stretches.reduce((all, {count: some}) => all + some, 0);
		const worst = stretches.reduce((most, {max}) => Math.max(most, max), 0);
		const caption = element('p', {role: 'status'}, '');
		const summary =
			sum === 0
				? 'No matching request has a response.'
				: `${formatCount(sum)} responses between ${formatDateTime(data.from)} and ${formatDateTime(data.to)}; slowest: ${formatMicroseconds(worst)}. Click to open the slowest request of an interval.`;
		caption.textContent = summary;
		const svg = svgElement('svg', {role: 'img', 'aria-label': summary});
		this.#root.replaceChildren(element('h2', {}, 'Latency over time'), caption, legend(), svg);
		if (sum > 0)
			new LatencyChart(svg, data, worst, text => {
				caption.textContent = text ?? summary;
			}).draw();
	}
}

const legend = (): HTMLElement =>
	element(
		'div',
		{class: 'key-list', 'aria-hidden': 'true'},
		...[
			['k-median', 'median'],
			['k-high', '95th percentile'],
			['k-max', 'slowest'],
			['k-errors', 'errors'],
		].map(([name, text]) => element('span', {}, element('i', {class: name}), text)),
	);

class LatencyChart {
	readonly #svg: SVGSVGElement;
	readonly #data: LatencyOverTime;
	readonly #width: number;
	readonly #height: number;
	readonly #low: number;
	readonly #high: number;
	readonly #setCaption: (text: string | undefined) => void;

	constructor(
		svg: SVGSVGElement,
		data: LatencyOverTime,
		worst: number,
		setCaption: (text: string | undefined) => void,
	) {
		this.#svg = svg;
		this.#data = data;
		this.#setCaption = setCaption;
		const {width, height} = svg.getBoundingClientRect();
		this.#width = Math.max(200, width);
		this.#height = Math.max(120, height);
		const least = Math.min(...data.stretches.map(({median}) => median));
		this.#low = Math.floor(Math.log10(Math.max(1, least)));
		this.#high = Math.max(this.#low + 1, Math.ceil(Math.log10(Math.max(1, worst))));
	}

	draw(): void {
		const {stretches} = this.#data;
		const back = [...stretches].reverse().map(each => `${this.#x(each)},${this.#y(each.median)}`);
		const area = [...stretches.map(each => `${this.#x(each)},${this.#y(each.high)}`), ...back].join(' ');
		const cross = svgElement('line', {
			class: 'cross',
			y1: 0,
			y2: this.#height - BOTTOM_MARGIN,
			visibility: 'hidden',
		});
		this.#svg.replaceChildren(
			...this.#grid(),
			...this.#times(),
			...this.#bars(),
			svgElement('polygon', {class: 'high', points: area}),
			svgElement('path', {class: 'median', d: this.#line()}),
			...stretches.map(each =>
				svgElement('circle', {class: 'max', cx: this.#x(each), cy: this.#y(each.max), r: 2}),
			),
			...stretches.map(each =>
				svgElement('circle', {class: 'middle', cx: this.#x(each), cy: this.#y(each.median), r: 1.8}),
			),
			cross,
		);
		this.#svg.addEventListener('pointermove', ({offsetX}) =>
			this.#showInterval(cross, this.#nearest(offsetX)),
		);
		this.#svg.addEventListener('pointerleave', () => {
			cross.setAttribute('visibility', 'hidden');
			this.#setCaption(undefined);
		});
		this.#svg.addEventListener('click', ({offsetX}) => {
			const interval = this.#nearest(offsetX);
			if (!interval) return;
			model.setView('list');
			model.openDetail(true);
			void messageList.goToRow(interval.row);
		});
	}

	#x({time}: {readonly time: number}): number {
		const {from, to} = this.#data;
		return LEFT_MARGIN + ((time - from) / Math.max(1, to - from)) * (this.#width - LEFT_MARGIN - 12);
	}

	#y(latency: number): number {
		const share = (Math.log10(Math.max(1, latency)) - this.#low) / (this.#high - this.#low);
		const bottom = this.#height - BOTTOM_MARGIN - COUNT_HEIGHT;
		return bottom - Math.max(0, share) * (bottom - 12);
	}

	/** The line of the median. It is interrupted at gaps without responses. */
	#line(): string {
		const {from, to, stretches} = this.#data;
		const maxGap = (2.5 * (to - from)) / INTERVALS;
		return stretches
			.map((each, at) => {
				const before = stretches[at - 1];
				const isAfterGap = !before || each.time - before.time > maxGap;
				return `${isAfterGap ? 'M' : 'L'}${this.#x(each)} ${this.#y(each.median)}`;
			})
			.join('');
	}

	#grid(): SVGElement[] {
		return Array.from({length: this.#high - this.#low + 1}, (_, at) => {
			const value = 10 ** (this.#low + at);
			const y = this.#y(value);
			return svgElement(
				'g',
				{},
				svgElement('line', {class: 'grid', x1: LEFT_MARGIN, x2: this.#width, y1: y, y2: y}),
				svgElement(
					'text',
					{class: 'soft', x: LEFT_MARGIN - 8, y: y + 4, 'text-anchor': 'end'},
					formatMicroseconds(value),
				),
			);
		});
	}

	#times(): SVGElement[] {
		const {from, to} = this.#data;
		return [0, 0.25, 0.5, 0.75, 1].map(share => {
			const time = from + share * (to - from);
			const anchor = share === 0 ? 'start' : share === 1 ? 'end' : 'middle';
			return svgElement(
				'text',
				{class: 'soft', x: this.#x({time}), y: this.#height - 5, 'text-anchor': anchor},
				formatClockTime(time),
			);
		});
	}

	/** Bars for the number of responses and of errors. */
	#bars(): SVGElement[] {
		const most = Math.max(...this.#data.stretches.map(each => each.count));
		const width = Math.max(1, (this.#width - LEFT_MARGIN - 12) / INTERVALS - 1);
		const bar = (name: string, interval: LatencyInterval, value: number): SVGElement => {
			const height = (value / most) * (COUNT_HEIGHT - 14);
			return svgElement('rect', {
				class: name,
				x: this.#x(interval),
				y: this.#height - BOTTOM_MARGIN - height,
				width,
				height,
			});
		};
		return this.#data.stretches.flatMap(each => [
			bar('calls', each, each.count),
			bar('errors', each, each.errors),
		]);
	}

	#nearest(x: number): LatencyInterval | undefined {
		return this.#data.stretches.reduce<LatencyInterval | undefined>(
			(best, each) => (!best || Math.abs(this.#x(each) - x) < Math.abs(this.#x(best) - x) ? each : best),
			undefined,
		);
	}

	#showInterval(cross: SVGElement, interval: LatencyInterval | undefined): void {
		if (!interval) return;
		const x = this.#x(interval);
		cross.setAttribute('visibility', 'visible');
		cross.setAttribute('x1', String(x));
		cross.setAttribute('x2', String(x));
		const {time, count: calls, errors, median, high, max} = interval;
		const failed = errors === 0 ? '' : `, errors: ${formatCount(errors)}`;
		this.#setCaption(
			`${formatDateTime(time)} · responses: ${formatCount(calls)}${failed} · median ${formatMicroseconds(median)} · 95th percentile ${formatMicroseconds(high)} · slowest ${formatMicroseconds(max)}`,
		);
	}
}

export const latencyView = new LatencyView();
