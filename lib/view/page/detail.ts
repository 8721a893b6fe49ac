import {fetchLine} from './api.js';
import {bytesShown} from './bytes.js';
import {asFixture, copy} from './copy.js';
import {button, byId, element, visible, visibleLines} from './dom.js';
import {clock, dayAndClock, duration, size} from './format.js';
import {isMembers, parsed, written} from './json.js';
import {list} from './list.js';
import {nameOf, statusOf} from './list-row.js';
import {model} from './model.js';
import {curlScript, pipeScript} from './script.js';
import {tree} from './tree.js';
import type {Line} from './types.js';

/** A line with what is said in it, and with the same on the other side of bridge. */
type Said = {readonly line: Line; readonly content: unknown; readonly twin: Said | undefined};

/** The message that is looked at, with what belongs to it. */
class Detail {
	readonly #root = byId('detail');
	#isRaw = false;
	/** Counts up, so that only what was asked for last is shown. */
	#round = 0;

	constructor() {
		model.on(['current', 'detail', 'view'], () => void this.show());
		model.on(['generation'], () => model.openDetail(false));
	}

	async show(): Promise<void> {
		const round = ++this.#round;
		const hasPlace = model.view === 'list' || model.view === 'sequence';
		this.#root.hidden = !hasPlace || !model.isDetailOpen || model.current < 0;
		if (this.#root.hidden) return;
		try {
			const said = await read(model.current);
			const pair = said.line.row.pair < 0 ? undefined : await read(said.line.row.pair);
			if (round === this.#round) this.#draw(said, pair);
		} catch {
			if (round === this.#round)
				this.#root.replaceChildren(element('p', {class: 'empty'}, 'It cannot be read.'));
		}
	}

	toggleRaw(): void {
		this.#isRaw = !this.#isRaw;
		void this.show();
	}

	#draw(said: Said, pair: Said | undefined): void {
		const {row} = said.line;
		const title = element(
			'h2',
			{},
			element('span', {}, visible(nameOf(row))),
			element('span', {class: 'count'}, visible(row.title)),
			statusOf(row),
		);
		const scroll = element('div', {class: 'body', tabindex: 0}, ...this.#parts(said, pair));
		this.#root.replaceChildren(element('header', {}, title, ...this.#actions(said, pair)), scroll);
	}

	/** The request before its answer, whichever is looked at. */
	#parts(said: Said, pair: Said | undefined): HTMLElement[] {
		const both = [said, ...(pair ? [pair] : [])].sort((one, other) => one.line.row.row - other.line.row.row);
		return both.map(each => section(each, this.#isRaw));
	}

	#actions(said: Said, pair: Said | undefined): HTMLElement[] {
		const {row} = said.line;
		const isAnswer = row.kind === 'result' || row.kind === 'error';
		const [request, answer] = isAnswer ? [pair, said] : [said, pair];
		const text = (): string => (said.content === undefined ? said.line.text : written(said.content));
		const close = element(
			'button',
			{type: 'button', class: 'quiet close', 'aria-label': 'Close', title: 'Close (Esc)'},
			'✕',
		);
		close.addEventListener('click', () => model.openDetail(false));
		const save = element(
			'a',
			{
				class: 'button',
				href: `/view/export?row=${row.row}`,
				download: 'line.ndjson',
				title: 'Save this line as it stands in the log',
			},
			'Save',
		);
		return [
			button('Copy', 'Copy this message (c)', () => void copy(text(), 'Message')),
			...(isMembers(request?.content)
				? [
						...(request?.line.row.isFromClient ? [asScript(request)] : []),
						button(
							'as fixture',
							'Copy request and answer as a file for tests',
							() => void copy(asFixture(request?.content, answer?.content), 'Fixture'),
						),
					]
				: []),
			...(pair
				? [
						button(
							isAnswer ? 'Go to request' : 'Go to answer',
							'Go to what belongs to it (p)',
							() => void list.goTo(row.pair),
						),
					]
				: []),
			button(this.#isRaw ? 'Tree' : 'Raw', 'As a tree, or as it is written (r)', () => this.toggleRaw()),
			save,
			close,
		];
	}
}

/** Copies a script that sends a request again: with curl to the gateway that it passed, or through bridge. */
function asScript({content: message, line: {row}}: Said): HTMLElement {
	const {hasStatus = false, gateway = null} = model.state ?? {};
	const address = hasStatus ? location.origin : gateway;
	const recorded = {message, server: row.server, version: row.version};
	if (address === null)
		return button(
			'as script',
			'Copy a shell script that sends the request to a server that you name: the log has no address of it',
			() => void copy(pipeScript(recorded), 'Script'),
		);
	return button(
		'as curl',
		'Copy a shell script that sends the request with curl, handshake included',
		() => void copy(curlScript(recorded, address), 'Script'),
	);
}

async function read(row: number, hasTwin = true): Promise<Said> {
	const line = await fetchLine(row);
	const members = line.isCut ? undefined : parsed(line.text);
	const content = isMembers(members) ? (members.message ?? members) : members;
	const twin = hasTwin && line.row.twin >= 0 ? await read(line.row.twin, false) : undefined;
	return {line, content, twin};
}

/** One message, and beside it what became of it. */
function section(said: Said, isRaw: boolean): HTMLElement {
	const {line, twin} = said;
	const {row} = line;
	const names: {[kind: string]: string} = {
		request: 'Request',
		result: 'Answer',
		error: 'Answer',
		data: 'Data',
	};
	const name = names[row.kind] ?? (row.kind === 'notification' ? 'Notification' : 'Line');
	const facts = [
		clock(row.time),
		visible(direction(said)),
		size(row.size),
		duration(row.kind === 'request' ? null : row.latency),
		visible(row.version),
		visible(row.conn),
	];
	const heading = element(
		'h3',
		{},
		name,
		element(
			'span',
			{class: 'facts', title: dayAndClock(row.time)},
			facts.filter(fact => fact !== '').join(' · '),
		),
	);
	if (!twin)
		return element('section', {}, heading, element('div', {class: 'side'}, content(said, undefined, isRaw)));
	// On the left what its sender said, on the right what its receiver heard.
	const [first, second] = row.isUpstreamSide === row.isFromClient ? [twin, said] : [said, twin];
	return element(
		'section',
		{},
		heading,
		element(
			'div',
			{class: 'sides'},
			side(first, undefined, isRaw, 'Original'),
			side(second, first, isRaw, 'Translated'),
		),
	);
}

const side = (said: Said, other: Said | undefined, isRaw: boolean, name: string): HTMLElement =>
	element(
		'div',
		{class: 'side'},
		element('h4', {}, `${name} · ${said.line.row.isUpstreamSide ? 'server side' : 'client side'}`),
		content(said, other, isRaw),
	);

function direction({line: {row}}: Said): string {
	if (row.kind === 'broken') return '';
	const [client, server] = [row.client || 'client', row.server || 'server'];
	if (row.isByBridge) return `bridge → ${row.isFromClient ? server : client}`;
	return row.isFromClient ? `${client} → ${server}` : `${server} → ${client}`;
}

function content({line, content: value}: Said, other: Said | undefined, isRaw: boolean): HTMLElement {
	if (line.isCut)
		return element(
			'div',
			{},
			element(
				'p',
				{class: 'cut'},
				`This line has ${size(line.bytes)}, of which the beginning is shown. Save has all of it.`,
			),
			element('pre', {class: 'raw'}, visibleLines(line.text.slice(0, 20_000))),
		);
	if (line.row.kind === 'data' && isMembers(value) && typeof value.data === 'string' && !isRaw)
		return bytesShown(value.data);
	if (value === undefined || isRaw) return element('pre', {class: 'raw'}, visibleLines(line.text));
	return tree(value, other && {value: other.content});
}

export const detail = new Detail();
