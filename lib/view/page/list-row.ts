import {element, visible} from './dom.js';
import {clock, duration, size} from './format.js';
import {model} from './model.js';
import type {ListedRow} from './types.js';

/** A latency of this many microseconds has a bar of full length. */
const LONG = 1e7;
const cells = [
	'time',
	'arrow',
	'method',
	'id',
	'latency number',
	'size number',
	'status-cell',
	'version',
	'server',
];

/** An element that a row can be shown in. */
export function newRow(): HTMLElement {
	return element(
		'div',
		{class: 'row', role: 'row'},
		...cells.map(name => element('span', {class: name, role: 'gridcell'})),
	);
}

/** Shows a row in an element that has shown another one. */
export function fillRow(drawn: HTMLElement, row: ListedRow | undefined, isChosen: boolean): void {
	drawn.className = row ? classesOf(row, isChosen) : 'row waiting';
	drawn.id = row ? `row-${row.row}` : '';
	if (row) drawn.setAttribute('aria-selected', String(row.row === model.current || isChosen));
	const [time, arrow, method, id, latency, bytes, status, version, server] = drawn.children;
	if (!row || !method || !latency || !status || !arrow) {
		for (const cell of drawn.children) cell.textContent = '';
		return;
	}
	set(time, clock(row.time));
	set(arrow, arrowOf(row));
	arrow.className = `arrow ${row.isFromClient ? 'up' : 'down'}`;
	arrow.setAttribute('aria-label', row.isFromClient ? 'from client' : 'to client');
	method.replaceChildren(
		element('b', {}, visible(nameOf(row))),
		...(row.title === '' ? [] : [element('i', {}, visible(row.title))]),
	);
	set(id, visible(row.id));
	latency.replaceChildren(duration(row.latency), ...(row.latency === null ? [] : [barOf(row.latency)]));
	set(bytes, size(row.size));
	status.replaceChildren(statusOf(row));
	set(version, visible(row.version));
	set(server, visible(row.server));
}

const set = (cell: Element | undefined, text: string): void => {
	if (cell && cell.textContent !== text) cell.textContent = text;
};

function classesOf(row: ListedRow, isChosen: boolean): string {
	const isAnswer = row.kind === 'result' || row.kind === 'error';
	const related = model.current >= 0 && (row.pair === model.current || row.twin === model.current);
	return [
		'row',
		row.kind,
		isAnswer ? 'answer' : '',
		row.isUpstreamSide ? 'upstream' : '',
		isAnswer && row.status === 'error' ? 'failed' : '',
		related ? 'paired' : '',
		isChosen ? 'chosen' : '',
		row.row === model.current ? 'current' : '',
	]
		.filter(name => name !== '')
		.join(' ');
}

const arrowOf = ({kind, isFromClient}: ListedRow): string => {
	if (kind === 'broken') return '✕';
	if (kind === 'event') return '·';
	return isFromClient ? '→' : '←';
};

/** What a row is called. */
export function nameOf({kind, method}: ListedRow): string {
	if (method !== '') return method;
	const names: {[kind: string]: string} = {broken: 'not a line of a log', data: 'data', other: 'no message'};
	return names[kind] ?? 'answer to nothing';
}

function barOf(latency: number): HTMLElement {
	const bar = element('span', {class: 'bar'});
	const share = Math.log10(1 + latency) / Math.log10(1 + LONG);
	bar.style.width = `${Math.min(100, share * 100)}%`;
	return bar;
}

/** A status, as a dot and a word. */
export const statusOf = ({status}: ListedRow): HTMLElement =>
	element(
		'span',
		{class: `status ${status === '' ? 'none' : status}`},
		{ok: 'ok', error: 'error', open: 'open', '': ''}[status],
	);
