import type {Envelope} from '../envelope.js';
import {localTime, utcTime} from '../local-time.js';
import {printable, shortened} from '../printable.js';
import {perMessage, type Stage} from '../stage.js';
import {redactStart} from '../store/redact.js';

export type TraceOptions = {
	/** Takes one line, line feed included. */
	readonly write: (line: string) => void;
	readonly hasColour: boolean;
	/** Shows times in UTC, as the JSON log beside it does. */
	readonly isUtc?: boolean;
	/** The conversation that the messages belong to, where there are several: see {@link traceLabel}. */
	readonly label?: string | undefined;
	/** Whether requests and answers pass in the same direction, as in a filter. */
	readonly isOneWay?: boolean;
	readonly now?: () => Date;
	/** Monotonic, in milliseconds. */
	readonly elapsed?: () => number;
};

type Direction = 'toUpstream' | 'toClient';

/** Requests that are remembered for the latency of their answers. The oldest is forgotten for the next. */
const MAX_ASKED = 10_000;
/** Larger messages are not parsed for the name of their tool or the text of their error. */
const MAX_PARSED = 64 * 1024;
/** Characters of an error's text that are shown. */
const MAX_MESSAGE = 300;

/** Widths of columns: the method or tool, and the id with the size. */
const [WHAT, ID_AND_SIZE] = [28, 14];
const LABEL = 20;

/** Conversations that have a label. */
let labels = 0;

/** A label for the lines of one conversation: the name of its service, and a number of its own. */
export function traceLabel(name: string): string {
	const number = `#${++labels}`;
	const most = LABEL - number.length;
	return (name.length <= most ? name : `${name.slice(0, most - 1)}…`) + number;
}

const arrows = {toUpstream: '→', toClient: '←'} as const;
const colours = {toUpstream: 36, toClient: 32, error: 31, dim: 2} as const;

/** Shows people what passes, one line a message: time, direction, what it is, id, size, and how long an answer took. */
export function trace({
	write,
	hasColour,
	isUtc = false,
	label,
	isOneWay = false,
	now = () => new Date(),
	elapsed = () => performance.now(),
}: TraceOptions): Stage {
	const asked = new Map<string, {readonly what: string; readonly at: number}>();
	const paint = (colour: number, text: string): string =>
		hasColour && colour > 0 && text !== '' ? `\u001b[${colour}m${text}\u001b[0m` : text;

	const clock = isUtc ? utcTime : localTime;
	const who = label === undefined ? [] : [paint(colours.dim, label.padEnd(LABEL))];

	const remember = (key: string, what: string): void => {
		const [oldest] = asked.keys();
		if (asked.size >= MAX_ASKED && oldest !== undefined) asked.delete(oldest);
		asked.set(key, {what, at: elapsed()});
	};
	/** What an answer in this direction answers: both sides count their ids from where they like. */
	const questionOf = (answered: string, direction: Direction): {what: string; at: number} | undefined => {
		const asker = isOneWay || direction === 'toClient' ? 'toUpstream' : 'toClient';
		const key = asker + answered;
		const question = asked.get(key);
		asked.delete(key);
		return question;
	};
	const pair = (key: string, method: string | undefined, what: string, direction: Direction) => {
		if (method === undefined) return questionOf(key, direction);
		remember(direction + key, what);
		return;
	};
	const show = (envelope: Envelope, direction: Direction): Envelope => {
		const {id, key, method, hasError, flaw} = envelope.head;
		const what = describe(envelope);
		const question = flaw === undefined && key !== undefined ? pair(key, method, what, direction) : undefined;
		const title = question?.what ?? what;
		const length = size(envelope.size);
		const shownId = idShown(id, ID_AND_SIZE - 1 - length.length);
		const columns = [
			paint(colours.dim, clock(now())),
			...who,
			paint(colours[direction], arrows[direction]),
			paint(hasError || flaw ? colours.error : 0, fitted(title).padEnd(WHAT)),
			paint(colours.dim, shownId) + length.padStart(ID_AND_SIZE - shownId.length),
			(question ? `${(elapsed() - question.at).toFixed(1)} ms` : '').padStart(10),
			...(hasError ? [paint(colours.error, errorOf(envelope))] : []),
			// A request with a long name has it in full behind the columns.
			...(question || title.length <= WHAT ? [] : [title]),
		];
		write(`${columns.join(' ').trimEnd()}\n`);
		return envelope;
	};
	return perMessage({
		toUpstream: envelope => show(envelope, 'toUpstream'),
		toClient: envelope => show(envelope, 'toClient'),
	});
}

const fitted = (what: string): string => (what.length <= WHAT ? what : `${what.slice(0, WHAT - 1)}…`);

/** The first two and the last characters of a long text: ids differ at their ends. */
const ends = (text: string, most: number): string =>
	text.length <= most ? text : `${text.slice(0, 2)}…${text.slice(3 - most)}`;

const idShown = (id: string | undefined, most: number): string =>
	id === undefined ? '' : `#${ends(printable(shortened(id)), most - 1)}`;

/** What a message is, in a few words. */
export function describe(envelope: Envelope): string {
	const {method, flaw, hasError} = envelope.head;
	if (flaw !== undefined) return flaw;
	if (method === undefined) return hasError ? 'error' : 'result';
	const name = method === 'tools/call' ? member(parsed(envelope)?.params, 'name') : undefined;
	return printable(shortened(typeof name === 'string' ? `${method} ${name}` : method));
}

function errorOf(envelope: Envelope): string {
	const error = parsed(envelope)?.error;
	const [code, message] = [member(error, 'code'), member(error, 'message')];
	const text = typeof message === 'string' ? redactStart(message, MAX_MESSAGE) : '';
	return printable(`error ${typeof code === 'number' ? code : ''}: ${text}`);
}

/** A member of what may be no object at all: peers send what they like. */
const member = (value: unknown, name: string): unknown =>
	typeof value === 'object' && value !== null ? (value as {[name: string]: unknown})[name] : undefined;

const parsed = (envelope: Envelope): Envelope['body'] | undefined =>
	envelope.size <= MAX_PARSED && envelope.head.flaw === undefined ? envelope.body : undefined;

function size(bytes: number): string {
	if (bytes < 1000) return `${bytes} B`;
	return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
