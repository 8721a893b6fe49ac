import {fetchLine} from './api.js';
import {copyText, fixtureText} from './copy.js';
import {button, byId, element, showHidden, showHiddenInLines} from './dom.js';
import {formatByteSize, formatClockTime, formatDateTime, formatMicroseconds} from './format.js';
import {hexView} from './hex-view.js';
import {isJsonMembers, parseJsonSource, stringifyJsonSource} from './json.js';
import {jsonTree} from './json-tree.js';
import {rowName, statusBadge} from './list-row.js';
import {messageList} from './message-list.js';
import {model} from './model.js';
import {curlScript, pipeScript} from './shell-scripts.js';
import type {LineDetail} from './types.js';

/** A line with its content, and with the same message on the other side of bridge. */
type LoadedLine = {
	readonly line: LineDetail;
	readonly content: unknown;
	readonly twin: LoadedLine | undefined;
};

/** The pane of the selected message and its pair. */
class DetailPane {
	readonly #root = byId('detail');
	#isRaw = false;
	/** Incremented by each request, so that only the latest response is shown. */
	#requestNumber = 0;

	constructor() {
		model.on(['current', 'detail', 'view'], () => void this.show());
		model.on(['generation'], () => model.openDetail(false));
	}

	async show(): Promise<void> {
		const requestNumber = ++this.#requestNumber;
		const isViewWithDetail = model.view === 'list' || model.view === 'sequence';
		this.#root.hidden = !isViewWithDetail || !model.isDetailOpen || model.current < 0;
		if (this.#root.hidden) return;
		try {
			const loaded = await loadLine(model.current);
			const pair = loaded.line.row.pair < 0 ? undefined : await loadLine(loaded.line.row.pair);
			if (requestNumber === this.#requestNumber) this.#draw(loaded, pair);
		} catch {
			if (requestNumber === this.#requestNumber)
				this.#root.replaceChildren(element('p', {class: 'empty'}, 'The message cannot be loaded.'));
		}
	}

	toggleRaw(): void {
		this.#isRaw = !this.#isRaw;
		void this.show();
	}

	#draw(loaded: LoadedLine, pair: LoadedLine | undefined): void {
		const {row} = loaded.line;
		const title = element(
			'h2',
			{},
			element('span', {}, showHidden(rowName(row))),
			element('span', {class: 'count'}, showHidden(row.title)),
			statusBadge(row),
		);
		const scroll = element('div', {class: 'body', tabindex: 0}, ...this.#sections(loaded, pair));
		this.#root.replaceChildren(element('header', {}, title, ...this.#actions(loaded, pair)), scroll);
	}

	/** Shows the request before its response, whichever is selected. */
	#sections(loaded: LoadedLine, pair: LoadedLine | undefined): HTMLElement[] {
		const ordered = [loaded, ...(pair ? [pair] : [])].sort(
			(one, other) => one.line.row.row - other.line.row.row,
		);
		return ordered.map(each => messageSection(each, this.#isRaw));
	}

	#actions(loaded: LoadedLine, pair: LoadedLine | undefined): HTMLElement[] {
		const {row} = loaded.line;
		const isResponse = row.kind === 'result' || row.kind === 'error';
		const [request, response] = isResponse ? [pair, loaded] : [loaded, pair];
		const text = (): string =>
			loaded.content === undefined ? loaded.line.text : stringifyJsonSource(loaded.content);
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
				title: 'Save this line of the log unchanged',
			},
			'Save',
		);
		return [
			button('Copy', 'Copy this message (c)', () => void copyText(text(), 'Message')),
			...(isJsonMembers(request?.content)
				? [
						...(request?.line.row.isFromClient ? [scriptButton(request)] : []),
						button(
							'as fixture',
							'Copy request and response as a fixture for tests',
							() => void copyText(fixtureText(request?.content, response?.content), 'Fixture'),
						),
					]
				: []),
			...(pair
				? [
						button(
							isResponse ? 'Go to request' : 'Go to response',
							'Go to the other message of the pair (p)',
							() => void messageList.goToRow(row.pair),
						),
					]
				: []),
			button(this.#isRaw ? 'Tree' : 'Raw', 'Switch between tree and source (r)', () => this.toggleRaw()),
			save,
			close,
		];
	}
}

/**
 * Copies a script that repeats a request: with curl if the address of the gateway is known, otherwise through
 * bridge.
 */
function scriptButton({content: message, line: {row}}: LoadedLine): HTMLElement {
	const {hasStatus = false, gateway = null} = model.state ?? {};
	const address = hasStatus ? location.origin : gateway;
	const recorded = {message, server: row.server, version: row.version};
	if (address === null)
		return button(
			'as script',
			'Copy a shell script that sends the request to a server of your choice, since the log does not contain its address',
			() => void copyText(pipeScript(recorded), 'Script'),
		);
	return button(
		'as curl',
		'Copy a shell script that sends the request with curl, including the handshake',
		() => void copyText(curlScript(recorded, address), 'Script'),
	);
}

async function loadLine(row: number, hasTwin = true): Promise<LoadedLine> {
	const line = await fetchLine(row);
	const members = line.isCut ? undefined : parseJsonSource(line.text);
	const content = isJsonMembers(members) ? (members.message ?? members) : members;
	const twin = hasTwin && line.row.twin >= 0 ? await loadLine(line.row.twin, false) : undefined;
	return {line, content, twin};
}

/** A section for one message, next to its translation if there is one. */
function messageSection(loaded: LoadedLine, isRaw: boolean): HTMLElement {
	const {line, twin} = loaded;
	const {row} = line;
	const names: {[kind: string]: string} = {
		request: 'Request',
		result: 'Response',
		error: 'Response',
		data: 'Data',
	};
	const name = names[row.kind] ?? (row.kind === 'notification' ? 'Notification' : 'Line');
	const facts = [
		formatClockTime(row.time),
		showHidden(direction(loaded)),
		formatByteSize(row.size),
		formatMicroseconds(row.kind === 'request' ? null : row.latency),
		showHidden(row.version),
		showHidden(row.conn),
	];
	const heading = element(
		'h3',
		{},
		name,
		element(
			'span',
			{class: 'facts', title: formatDateTime(row.time)},
			facts.filter(fact => fact !== '').join(' · '),
		),
	);
	if (!twin)
		return element(
			'section',
			{},
			heading,
			element('div', {class: 'side'}, contentView(loaded, undefined, isRaw)),
		);
	// Left: as sent. Right: as received.
	const [first, second] = row.isUpstreamSide === row.isFromClient ? [twin, loaded] : [loaded, twin];
	return element(
		'section',
		{},
		heading,
		element(
			'div',
			{class: 'sides'},
			sideView(first, undefined, isRaw, 'Original'),
			sideView(second, first, isRaw, 'Translated'),
		),
	);
}

const sideView = (
	loaded: LoadedLine,
	other: LoadedLine | undefined,
	isRaw: boolean,
	name: string,
): HTMLElement =>
	element(
		'div',
		{class: 'side'},
		element('h4', {}, `${name} · ${loaded.line.row.isUpstreamSide ? 'server side' : 'client side'}`),
		contentView(loaded, other, isRaw),
	);

function direction({line: {row}}: LoadedLine): string {
	if (row.kind === 'broken') return '';
	const [client, server] = [row.client || 'client', row.server || 'server'];
	if (row.isByBridge) return `bridge → ${row.isFromClient ? server : client}`;
	return row.isFromClient ? `${client} → ${server}` : `${server} → ${client}`;
}

function contentView(
	{line, content: value}: LoadedLine,
	other: LoadedLine | undefined,
	isRaw: boolean,
): HTMLElement {
	if (line.isCut)
		return element(
			'div',
			{},
			element(
				'p',
				{class: 'cut'},
				`This line has ${formatByteSize(line.bytes)}. Only its beginning is shown; use Save for all of it.`,
			),
			element('pre', {class: 'raw'}, showHiddenInLines(line.text.slice(0, 20_000))),
		);
	if (line.row.kind === 'data' && isJsonMembers(value) && typeof value.data === 'string' && !isRaw)
		return hexView(value.data);
	if (value === undefined || isRaw) return element('pre', {class: 'raw'}, showHiddenInLines(line.text));
	return jsonTree(value, other && {value: other.content});
}

export const detailPane = new DetailPane();
