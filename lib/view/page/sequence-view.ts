import {byId, element, showHidden, svgElement} from './dom.js';
import {formatClockTime, formatMicroseconds} from './format.js';
import {rowName} from './list-row.js';
import {emptyFilter, model} from './model.js';
import {RowCache} from './row-cache.js';
import type {ListedRow} from './types.js';
import {VirtualScroller, type VisibleRows} from './virtual-scroller.js';

const ROW_HEIGHT = 40;
/** Positions of the lanes as shares of the width. */
const lanes = {client: 0.14, bridge: 0.5, server: 0.86} as const;
/** Approximate width of a character in pixels. */
const CHARACTER_WIDTH = 6.3;

/** Shows the messages of one connection as arrows between client, bridge and server. */
class SequenceView {
	readonly #root = byId('sequence');
	readonly #cache = new RowCache(() => this.#onRowsLoaded());
	readonly #scroller = new VirtualScroller(this.#root, ROW_HEIGHT, visible => this.#draw(visible));
	readonly #svg = svgElement('svg', {role: 'img', 'aria-label': 'Sequence of messages'});
	#conn = '';

	constructor() {
		this.#scroller.spacer.append(this.#svg);
		this.#svg.style.position = 'absolute';
		model.on(['filter', 'generation', 'view'], () => this.#reset());
		model.on(['state'], () => {
			if (this.#isShown) this.#cache.refresh();
		});
		model.on(['current'], () => this.#scroller.draw());
	}

	get #isShown(): boolean {
		return model.view === 'sequence';
	}

	#reset(): void {
		if (!this.#isShown) return;
		this.#conn = model.filter.conn;
		this.#cache.reset({...emptyFilter, conn: this.#conn});
	}

	#onRowsLoaded(): void {
		if (!this.#isShown) return;
		this.#scroller.total = this.#cache.total;
		this.#showLanes(this.#cache.at(0));
		this.#scroller.draw();
	}

	#showLanes(row: ListedRow | undefined): void {
		const names = {client: row?.client || 'client', bridge: 'bridge', server: row?.server || 'server'};
		byId('lanes').replaceChildren(
			...Object.entries(names).map(([lane, name]) => {
				const label = element('span', {}, showHidden(name));
				label.style.left = `${lanes[lane as keyof typeof lanes] * 100}%`;
				return label;
			}),
		);
	}

	#draw({first, count, yOf}: VisibleRows): void {
		const width = this.#root.clientWidth;
		const height = count * ROW_HEIGHT;
		this.#svg.setAttribute('width', String(width));
		this.#svg.setAttribute('height', String(Math.max(0, height)));
		this.#svg.style.transform = `translateY(${yOf(first)}px)`;
		const rows = Array.from({length: Math.max(0, count)}, (_, at) => this.#cache.at(first + at));
		this.#svg.replaceChildren(
			arrowHead(),
			...Object.values(lanes).map(x =>
				svgElement('line', {class: 'lane', x1: x * width, x2: x * width, y1: 0, y2: height}),
			),
			...rows.flatMap((row, at) => (row ? [rowGroup(row, at * ROW_HEIGHT, width)] : [])),
		);
	}
}

function arrowHead(): SVGElement {
	const box = {viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto'};
	return svgElement(
		'defs',
		{},
		svgElement('marker', {id: 'arrow', ...box}, svgElement('path', {d: 'M0 0 8 4 0 8z'})),
	);
}

function rowGroup(row: ListedRow, y: number, width: number): SVGElement {
	const hit = svgElement('rect', {
		class: row.row === model.current ? 'hit current' : 'hit',
		x: 0,
		y,
		width,
		height: ROW_HEIGHT,
	});
	const title = `${rowName(row)}${row.id === '' ? '' : ` ${row.id}`}`;
	const group = svgElement(
		'g',
		{},
		hit,
		svgElement('title', {}, showHidden(title)),
		...rowShapes(row, y, width),
	);
	group.addEventListener('click', () => {
		model.select(row.row, row.conn);
		model.openDetail(true);
	});
	return group;
}

function rowShapes(row: ListedRow, y: number, width: number): SVGElement[] {
	const time = svgElement('text', {class: 'soft', x: 8, y: y + 16}, formatClockTime(row.time));
	if (row.kind === 'event' || row.kind === 'broken') {
		const line = {
			class: 'message event',
			x1: lanes.client * width,
			x2: lanes.server * width,
			y1: y + 28,
			y2: y + 28,
		};
		return [time, svgElement('line', line), labelElement(rowName(row), width / 2, y + 20, width / 2, 'soft')];
	}
	const [from, to] = arrowEnds(row);
	const [x1, x2] = [lanes[from] * width, lanes[to] * width];
	const isResponse = row.kind === 'result' || row.kind === 'error';
	const colorClass = row.status === 'error' && isResponse ? 'bad' : row.isFromClient ? 'up' : 'down';
	const line = {x1, x2: x2 + (x2 > x1 ? -2 : 2), y1: y + 28, y2: y + 28};
	const labelParts = [
		rowName(row),
		row.title,
		row.id === '' ? '' : `#${row.id}`,
		isResponse ? formatMicroseconds(row.latency) : '',
	];
	const label = labelParts.filter(word => word !== '').join('  ');
	return [
		time,
		svgElement('line', {
			class: `message ${colorClass}${isResponse ? ' response' : ''}`,
			...line,
			'marker-end': 'url(#arrow)',
		}),
		labelElement(label, (x1 + x2) / 2, y + 20, Math.abs(x2 - x1), isResponse ? 'soft' : ''),
	];
}

type LanePair = readonly [keyof typeof lanes, keyof typeof lanes];

/** The ends of the arrow of a message. It spans all lanes unless bridge created or translated the message. */
function arrowEnds({isFromClient, isUpstreamSide, isByBridge, twin}: ListedRow): LanePair {
	const isHalf = isByBridge || twin >= 0 || isUpstreamSide;
	const [left, right]: LanePair = isHalf
		? isUpstreamSide
			? ['bridge', 'server']
			: ['client', 'bridge']
		: ['client', 'server'];
	return isFromClient ? [left, right] : [right, left];
}

function labelElement(content: string, x: number, y: number, width: number, className: string): SVGElement {
	const maxLength = Math.floor(width / CHARACTER_WIDTH);
	const cut = content.length > maxLength ? `${content.slice(0, maxLength)}…` : content;
	return svgElement('text', {x, y, class: className, 'text-anchor': 'middle'}, showHidden(cut));
}

export const sequenceView = new SequenceView();
