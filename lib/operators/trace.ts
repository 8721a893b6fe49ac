import type {Envelope} from '../core/envelope.js';
import {redactStart} from '../core/redact.js';
import {perMessage, type Stage} from '../core/stage.js';
import {localTime, utcTime} from '../util/local-time.js';
import {printable, shortened} from '../util/printable.js';

export type TraceOptions = {
	/** Writes one line, which includes its line feed. */
	readonly write: (line: string) => void;
	readonly hasColor: boolean;
	/** Whether times are in UTC, like those of the JSON log. */
	readonly isUtc?: boolean;
	/** Identifies the conversation, if there are several: see {@link traceLabel}. */
	readonly label?: string | undefined;
	/** Whether requests and responses pass in the same direction, as in a filter. */
	readonly isOneWay?: boolean;
	readonly now?: () => Date;
	/** Monotonic, in milliseconds. */
	readonly elapsed?: () => number;
};

type Direction = 'toUpstream' | 'toClient';

/** Pending requests, for the latency of their responses. The oldest is evicted for the next. */
const MAX_PENDING = 10_000;
/** Larger messages are not parsed for a tool name or an error text. */
const MAX_PARSED = 64 * 1024;
/** Characters of an error's text that are shown. */
const MAX_MESSAGE = 300;

/** Widths of columns: the method or tool, and the id with the size. */
const [TITLE_WIDTH, ID_AND_SIZE_WIDTH] = [28, 14];
const LABEL_WIDTH = 20;

let labelCount = 0;

/** The label of a conversation: the name of its service and a unique number. */
export function traceLabel(name: string): string {
	const number = `#${++labelCount}`;
	const maxLength = LABEL_WIDTH - number.length;
	return (name.length <= maxLength ? name : `${name.slice(0, maxLength - 1)}…`) + number;
}

const arrows = {toUpstream: '→', toClient: '←'} as const;
const colors = {toUpstream: 36, toClient: 32, error: 31, dim: 2} as const;

/** Writes one line per message: time, direction, method, id, size, and the latency of a response. */
export function trace({
	write,
	hasColor,
	isUtc = false,
	label,
	isOneWay = false,
	now = () => new Date(),
	elapsed = () => performance.now(),
}: TraceOptions): Stage {
	const pending = new Map<string, {readonly title: string; readonly at: number}>();
	const paint = (color: number, text: string): string =>
		hasColor && color > 0 && text !== '' ? `\u001b[${color}m${text}\u001b[0m` : text;

	const clock = isUtc ? utcTime : localTime;
	const labelColumn = label === undefined ? [] : [paint(colors.dim, label.padEnd(LABEL_WIDTH))];

	const addPending = (key: string, title: string): void => {
		const [oldest] = pending.keys();
		if (pending.size >= MAX_PENDING && oldest !== undefined) pending.delete(oldest);
		pending.set(key, {title, at: elapsed()});
	};
	/** The request of a response. The sender is part of the key, because both sides may use the same ids. */
	const takeRequest = (
		responseKey: string,
		direction: Direction,
	): {title: string; at: number} | undefined => {
		const sender = isOneWay || direction === 'toClient' ? 'toUpstream' : 'toClient';
		const key = sender + responseKey;
		const request = pending.get(key);
		pending.delete(key);
		return request;
	};
	const matchRequest = (key: string, method: string | undefined, title: string, direction: Direction) => {
		if (method === undefined) return takeRequest(key, direction);
		addPending(direction + key, title);
		return;
	};
	const show = (envelope: Envelope, direction: Direction): Envelope => {
		const {id, key, method, hasError, flaw} = envelope.head;
		const description = describeMessage(envelope);
		const request =
			flaw === undefined && key !== undefined ? matchRequest(key, method, description, direction) : undefined;
		const title = request?.title ?? description;
		const length = formatSize(envelope.size);
		const shownId = displayId(id, ID_AND_SIZE_WIDTH - 1 - length.length);
		const columns = [
			paint(colors.dim, clock(now())),
			...labelColumn,
			paint(colors[direction], arrows[direction]),
			paint(hasError || flaw ? colors.error : 0, fitTitle(title).padEnd(TITLE_WIDTH)),
			paint(colors.dim, shownId) + length.padStart(ID_AND_SIZE_WIDTH - shownId.length),
			(request ? `${(elapsed() - request.at).toFixed(1)} ms` : '').padStart(10),
			...(hasError ? [paint(colors.error, describeError(envelope))] : []),
			// A truncated title of a request follows in full.
			...(request || title.length <= TITLE_WIDTH ? [] : [title]),
		];
		write(`${columns.join(' ').trimEnd()}\n`);
		return envelope;
	};
	return perMessage({
		toUpstream: envelope => show(envelope, 'toUpstream'),
		toClient: envelope => show(envelope, 'toClient'),
	});
}

const fitTitle = (title: string): string =>
	title.length <= TITLE_WIDTH ? title : `${title.slice(0, TITLE_WIDTH - 1)}…`;

/** The first two and the last characters of a long text: ids differ at their ends. */
const truncateMiddle = (text: string, maxLength: number): string =>
	text.length <= maxLength ? text : `${text.slice(0, 2)}…${text.slice(3 - maxLength)}`;

const displayId = (id: string | undefined, maxLength: number): string =>
	id === undefined ? '' : `#${truncateMiddle(printable(shortened(id)), maxLength - 1)}`;

/** A short description of a message: its method and tool name, `result`, `error` or its flaw. */
export function describeMessage(envelope: Envelope): string {
	const {method, flaw, hasError} = envelope.head;
	if (flaw !== undefined) return flaw;
	if (method === undefined) return hasError ? 'error' : 'result';
	const name = method === 'tools/call' ? member(parsed(envelope)?.params, 'name') : undefined;
	return printable(shortened(typeof name === 'string' ? `${method} ${name}` : method));
}

function describeError(envelope: Envelope): string {
	const error = parsed(envelope)?.error;
	const [code, message] = [member(error, 'code'), member(error, 'message')];
	const text = typeof message === 'string' ? redactStart(message, MAX_MESSAGE) : '';
	return printable(`error ${typeof code === 'number' ? code : ''}: ${text}`);
}

/** A member of a value that may not be an object. */
const member = (value: unknown, name: string): unknown =>
	typeof value === 'object' && value !== null ? (value as {[name: string]: unknown})[name] : undefined;

const parsed = (envelope: Envelope): Envelope['body'] | undefined =>
	envelope.size <= MAX_PARSED && envelope.head.flaw === undefined ? envelope.body : undefined;

function formatSize(bytes: number): string {
	if (bytes < 1000) return `${bytes} B`;
	return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
