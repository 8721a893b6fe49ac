import {byId, drawn, element, visible} from './dom.js';
import {clock, duration} from './format.js';
import {nameOf} from './list-row.js';
import {model, noFilter} from './model.js';
import {RowCache} from './row-cache.js';
import {Scroller, type Stretch} from './scroller.js';
import type {ListedRow} from './types.js';

const ROW_HEIGHT = 40;
/** Where the lanes are, as shares of the width. */
const lanes = {client: 0.14, bridge: 0.5, server: 0.86} as const;
/** How wide a letter is, roughly. */
const LETTER = 6.3;

/** The messages of one connection as arrows between client, bridge and server. */
class Sequence {
	readonly #root = byId('sequence');
	readonly #cache = new RowCache(() => this.#news());
	readonly #scroller = new Scroller(this.#root, ROW_HEIGHT, stretch => this.#draw(stretch));
	readonly #svg = drawn('svg', {role: 'img', 'aria-label': 'Sequence of messages'});
	#conn = '';

	constructor() {
		this.#scroller.spacer.append(this.#svg);
		this.#svg.style.position = 'absolute';
		model.on(['filter', 'generation', 'view'], () => this.#begin());
		model.on(['state'], () => {
			if (this.#isShown) this.#cache.refresh();
		});
		model.on(['current'], () => this.#scroller.draw());
	}

	get #isShown(): boolean {
		return model.view === 'sequence';
	}

	#begin(): void {
		if (!this.#isShown) return;
		this.#conn = model.filter.conn;
		this.#cache.reset({...noFilter, conn: this.#conn});
	}

	#news(): void {
		if (!this.#isShown) return;
		this.#scroller.total = this.#cache.total;
		this.#showLanes(this.#cache.at(0));
		this.#scroller.draw();
	}

	#showLanes(row: ListedRow | undefined): void {
		const names = {client: row?.client || 'client', bridge: 'bridge', server: row?.server || 'server'};
		byId('lanes').replaceChildren(
			...Object.entries(names).map(([lane, name]) => {
				const label = element('span', {}, visible(name));
				label.style.left = `${lanes[lane as keyof typeof lanes] * 100}%`;
				return label;
			}),
		);
	}

	#draw({first, count, yOf}: Stretch): void {
		const width = this.#root.clientWidth;
		const height = count * ROW_HEIGHT;
		this.#svg.setAttribute('width', String(width));
		this.#svg.setAttribute('height', String(Math.max(0, height)));
		this.#svg.style.transform = `translateY(${yOf(first)}px)`;
		const rows = Array.from({length: Math.max(0, count)}, (_, at) => this.#cache.at(first + at));
		this.#svg.replaceChildren(
			arrowHead(),
			...Object.values(lanes).map(x =>
				drawn('line', {class: 'lane', x1: x * width, x2: x * width, y1: 0, y2: height}),
			),
			...rows.flatMap((row, at) => (row ? [rowOf(row, at * ROW_HEIGHT, width)] : [])),
		);
	}
}

function arrowHead(): SVGElement {
	const box = {viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto'};
	return drawn('defs', {}, drawn('marker', {id: 'arrow', ...box}, drawn('path', {d: 'M0 0 8 4 0 8z'})));
}

function rowOf(row: ListedRow, y: number, width: number): SVGElement {
	const hit = drawn('rect', {
		class: row.row === model.current ? 'hit current' : 'hit',
		x: 0,
		y,
		width,
		height: ROW_HEIGHT,
	});
	const title = `${nameOf(row)}${row.id === '' ? '' : ` ${row.id}`}`;
	const group = drawn('g', {}, hit, drawn('title', {}, visible(title)), ...shapes(row, y, width));
	group.addEventListener('click', () => {
		model.choose(row.row, row.conn);
		model.openDetail(true);
	});
	return group;
}

function shapes(row: ListedRow, y: number, width: number): SVGElement[] {
	const time = drawn('text', {class: 'soft', x: 8, y: y + 16}, clock(row.time));
	if (row.kind === 'event' || row.kind === 'broken') {
		const line = {
			class: 'message event',
			x1: lanes.client * width,
			x2: lanes.server * width,
			y1: y + 28,
			y2: y + 28,
		};
		return [time, drawn('line', line), text(nameOf(row), width / 2, y + 20, width / 2, 'soft')];
	}
	const [from, to] = ends(row);
	const [x1, x2] = [lanes[from] * width, lanes[to] * width];
	const isAnswer = row.kind === 'result' || row.kind === 'error';
	const colour = row.status === 'error' && isAnswer ? 'bad' : row.isFromClient ? 'up' : 'down';
	const line = {x1, x2: x2 + (x2 > x1 ? -2 : 2), y1: y + 28, y2: y + 28};
	const words = [
		nameOf(row),
		row.title,
		row.id === '' ? '' : `#${row.id}`,
		isAnswer ? duration(row.latency) : '',
	];
	const label = words.filter(word => word !== '').join('  ');
	return [
		time,
		drawn('line', {
			class: `message ${colour}${isAnswer ? ' answer' : ''}`,
			...line,
			'marker-end': 'url(#arrow)',
		}),
		text(label, (x1 + x2) / 2, y + 20, Math.abs(x2 - x1), isAnswer ? 'soft' : ''),
	];
}

type Way = readonly [keyof typeof lanes, keyof typeof lanes];

/** From where to where a message is drawn: all the way, unless bridge made it, or made something else of it. */
function ends({isFromClient, isUpstreamSide, isByBridge, twin}: ListedRow): Way {
	const isHalf = isByBridge || twin >= 0 || isUpstreamSide;
	const [left, right]: Way = isHalf
		? isUpstreamSide
			? ['bridge', 'server']
			: ['client', 'bridge']
		: ['client', 'server'];
	return isFromClient ? [left, right] : [right, left];
}

function text(content: string, x: number, y: number, width: number, className: string): SVGElement {
	const letters = Math.floor(width / LETTER);
	const cut = content.length > letters ? `${content.slice(0, letters)}…` : content;
	return drawn('text', {x, y, class: className, 'text-anchor': 'middle'}, visible(cut));
}

export const sequence = new Sequence();
