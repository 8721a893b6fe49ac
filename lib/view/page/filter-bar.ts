import {fetchConnections} from './api.js';
import {byId, element, showHidden} from './dom.js';
import {formatCount} from './format.js';
import {emptyFilter, model} from './model.js';
import type {ListedConnection} from './types.js';

/** Delay between the last keystroke and the search. */
const DEBOUNCE_MS = 200;

class FilterBar {
	readonly #text = byId<HTMLInputElement>('text');
	readonly #method = byId<HTMLSelectElement>('method');
	readonly #server = byId<HTMLSelectElement>('server');
	readonly #conn = byId<HTMLSelectElement>('conn');
	#connections: readonly ListedConnection[] = [];
	#connectionCount = -1;
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor() {
		byId('filters').addEventListener('submit', event => {
			event.preventDefault();
			this.#search();
		});
		this.#text.addEventListener('input', () => {
			clearTimeout(this.#timer);
			this.#timer = setTimeout(() => this.#search(), DEBOUNCE_MS);
		});
		for (const name of ['method', 'server', 'conn'] as const)
			byId<HTMLSelectElement>(name).addEventListener('change', ({target}) =>
				model.setFilter({[name]: (target as HTMLSelectElement).value}),
			);
		for (const choice of this.#choices())
			choice.addEventListener('click', () => model.setFilter({show: choice.dataset.show ?? 'all'}));
		byId('clear').addEventListener('click', () => model.setFilter(emptyFilter));
		model.on(['state'], () => this.#updateOptions());
		model.on(['filter', 'generation', 'view'], () => this.#show());
	}

	#choices(): NodeListOf<HTMLElement> {
		return document.querySelectorAll('#show [data-show]');
	}

	#search(): void {
		clearTimeout(this.#timer);
		const text = this.#text.value;
		if (text !== model.filter.text) model.setFilter({text});
	}

	/** Updates the options of the filters. */
	#updateOptions(): void {
		const {state} = model;
		if (!state) return;
		setOptions(this.#method, 'All methods', state.methods);
		setOptions(this.#server, 'All servers', state.servers);
		if (state.connections !== this.#connectionCount) {
			this.#connectionCount = state.connections;
			void this.#fetchConnections();
		}
		this.#show();
	}

	async #fetchConnections(): Promise<void> {
		try {
			const {connections} = await fetchConnections();
			this.#connections = connections;
		} catch {
			this.#connectionCount = -1;
		}
		const labels = new Map(this.#connections.map(({id, upstream}) => [id, `${id} · ${upstream}`]));
		setOptions(this.#conn, 'All connections', [...labels.keys()], labels);
		this.#show();
		// The sequence view needs one connection.
		const [first] = this.#connections;
		if (model.view === 'sequence' && model.filter.conn === '' && first) model.setFilter({conn: first.id});
	}

	/** The connection for views that need one. */
	get defaultConnection(): string {
		return model.filter.conn || (this.#connections[0]?.id ?? '');
	}

	#show(): void {
		const {text, method, server, conn, show} = model.filter;
		if (document.activeElement !== this.#text) this.#text.value = text;
		for (const [select, value] of [
			[this.#method, method],
			[this.#server, server],
			[this.#conn, conn],
		] as const) {
			if (![...select.options].some(option => option.value === value))
				select.append(element('option', {value}, showHidden(value)));
			select.value = value;
			select.classList.toggle('set', value !== '');
		}
		for (const choice of this.#choices())
			choice.setAttribute('aria-checked', String(choice.dataset.show === show));
		byId('clear').hidden = [text, method, server, conn].every(value => value === '') && show === 'all';
	}
}

/** Replaces the options if they have changed. */
function setOptions(
	select: HTMLSelectElement,
	all: string,
	values: readonly string[],
	labels: ReadonlyMap<string, string> = new Map(),
): void {
	const optionsKey = values.join('\n');
	if (select.dataset.known === optionsKey) return;
	select.dataset.known = optionsKey;
	const {value} = select;
	const options = [...values].map(each =>
		element('option', {value: each}, showHidden(labels.get(each) ?? each)),
	);
	const title = values.length > 1 ? `${all} (${formatCount(values.length)})` : all;
	select.replaceChildren(element('option', {value: ''}, title), ...options);
	select.value = value;
}

export const filterBar = new FilterBar();
