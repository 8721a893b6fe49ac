import {element, showHidden} from './dom.js';
import {formatByteSize, formatClockTime, formatMicroseconds} from './format.js';
import {model} from './model.js';
import type {ListedRow} from './types.js';

/** The latency in microseconds that fills the bar. */
const FULL_BAR_MICROS = 1e7;
const cellClasses = [
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

/** Creates a reusable row element. */
export function createRowElement(): HTMLElement {
	return element(
		'div',
		{class: 'row', role: 'row'},
		...cellClasses.map(name => element('span', {class: name, role: 'gridcell'})),
	);
}

/** Updates a row element to show a row. */
export function fillRowElement(
	rowElement: HTMLElement,
	row: ListedRow | undefined,
	isSelected: boolean,
): void {
	rowElement.className = row ? rowClasses(row, isSelected) : 'row waiting';
	rowElement.id = row ? `row-${row.row}` : '';
	if (row) rowElement.setAttribute('aria-selected', String(row.row === model.current || isSelected));
	const [time, arrow, method, id, latency, bytes, status, version, server] = rowElement.children;
	if (!row || !method || !latency || !status || !arrow) {
		for (const cell of rowElement.children) cell.textContent = '';
		return;
	}
	setCellText(time, formatClockTime(row.time));
	setCellText(arrow, rowArrow(row));
	arrow.className = `arrow ${row.isFromClient ? 'up' : 'down'}`;
	arrow.setAttribute('aria-label', row.isFromClient ? 'from client' : 'to client');
	method.replaceChildren(
		element('b', {}, showHidden(rowName(row))),
		...(row.title === '' ? [] : [element('i', {}, showHidden(row.title))]),
	);
	setCellText(id, showHidden(row.id));
	latency.replaceChildren(
		formatMicroseconds(row.latency),
		...(row.latency === null ? [] : [latencyBar(row.latency)]),
	);
	setCellText(bytes, formatByteSize(row.size));
	status.replaceChildren(statusBadge(row));
	setCellText(version, showHidden(row.version));
	setCellText(server, showHidden(row.server));
}

const setCellText = (cell: Element | undefined, text: string): void => {
	if (cell && cell.textContent !== text) cell.textContent = text;
};

function rowClasses(row: ListedRow, isSelected: boolean): string {
	const isResponse = row.kind === 'result' || row.kind === 'error';
	const related = model.current >= 0 && (row.pair === model.current || row.twin === model.current);
	return [
		'row',
		row.kind,
		isResponse ? 'response' : '',
		row.isUpstreamSide ? 'upstream' : '',
		isResponse && row.status === 'error' ? 'failed' : '',
		related ? 'paired' : '',
		isSelected ? 'chosen' : '',
		row.row === model.current ? 'current' : '',
	]
		.filter(name => name !== '')
		.join(' ');
}

const rowArrow = ({kind, isFromClient}: ListedRow): string => {
	if (kind === 'broken') return '✕';
	if (kind === 'event') return '·';
	return isFromClient ? '→' : '←';
};

export function rowName({kind, method}: ListedRow): string {
	if (method !== '') return method;
	const names: {[kind: string]: string} = {broken: 'invalid log line', data: 'data', other: 'not a message'};
	return names[kind] ?? 'response without request';
}

function latencyBar(latency: number): HTMLElement {
	const bar = element('span', {class: 'bar'});
	const share = Math.log10(1 + latency) / Math.log10(1 + FULL_BAR_MICROS);
	bar.style.width = `${Math.min(100, share * 100)}%`;
	return bar;
}

/** A status as a dot and a word. */
export const statusBadge = ({status}: ListedRow): HTMLElement =>
	element(
		'span',
		{class: `status ${status === '' ? 'none' : status}`},
		{ok: 'ok', error: 'error', open: 'open', '': ''}[status],
	);
