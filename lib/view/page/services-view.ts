import {byId, element, showHidden} from './dom.js';
import {model} from './model.js';

const POLL_INTERVAL_MS = 2000;

/** The displayed part of a service in /status. */
type Service = {
	readonly state: string;
	readonly transport: string;
	readonly version: string | null;
	readonly deprecated: boolean;
	readonly lost: {readonly [feature: string]: unknown};
	readonly tools: number | null;
	readonly sessions: number;
	readonly restarts: number;
	readonly lastError: string | null;
};

type Status = {readonly services: {readonly [name: string]: Service}; readonly sessions: number};

/** Shows the services of a gateway. Polls while it is visible. */
class ServicesView {
	readonly #root = byId('services');
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor() {
		model.on(['view'], () => void this.#poll());
	}

	async #poll(): Promise<void> {
		clearTimeout(this.#timer);
		if (model.view !== 'services') return;
		try {
			const response = await fetch('/status');
			if (response.ok) this.#draw((await response.json()) as Status);
		} catch {
			// The page shows the lost connection.
		}
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => void this.#poll(), POLL_INTERVAL_MS);
	}

	#draw({services, sessions}: Status): void {
		const names = ['Service', 'State', 'Transport', 'Version', 'Tools', 'Sessions', 'Restarts', 'Last error'];
		const head = element('tr', {}, ...names.map(name => element('th', {scope: 'col'}, name)));
		const rows = Object.entries(services).map(([name, service]) => serviceRow(name, service));
		this.#root.replaceChildren(
			element('h2', {}, `Services: ${rows.length} · sessions: ${sessions}`),
			element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows)),
		);
	}
}

const statusClasses: {readonly [state: string]: string} = {
	ready: 'ok',
	failed: 'error',
	idle: 'open',
	starting: 'open',
};

function serviceRow(name: string, service: Service): HTMLElement {
	const {state, transport, version, deprecated, lost, tools, sessions, restarts, lastError} = service;
	const show = element(
		'button',
		{type: 'button', class: 'quiet', title: 'Show its traffic'},
		showHidden(name),
	);
	show.addEventListener('click', () => {
		model.setFilter({server: name});
		model.setView('list');
	});
	const features = Object.keys(lost);
	const lostFeatures =
		features.length === 0
			? undefined
			: element('details', {}, element('summary', {}, `lost: ${features.length}`), listElement(features));
	const versionCell = element(
		'td',
		{},
		showHidden(version ?? '–'),
		deprecated ? element('span', {class: 'old'}, ' deprecated') : undefined,
		lostFeatures,
	);
	return element(
		'tr',
		{},
		element('td', {class: 'name-cell'}, show),
		element(
			'td',
			{},
			element('span', {class: `status ${statusClasses[state] ?? 'open'}`}, showHidden(state)),
		),
		element('td', {}, showHidden(transport)),
		versionCell,
		...[tools ?? '–', sessions, restarts].map(value => element('td', {}, String(value))),
		element('td', {class: 'why'}, showHidden(lastError ?? '')),
	);
}

const listElement = (names: readonly string[]): HTMLElement =>
	element('ul', {}, ...names.map(name => element('li', {}, showHidden(name))));

export const servicesView = new ServicesView();
