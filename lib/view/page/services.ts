import {byId, element, visible} from './dom.js';
import {model} from './model.js';

const AGAIN_MS = 2000;

/** What /status says of a service, as far as it is shown. */
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

/** The services of a gateway, asked for as long as somebody looks. */
class Services {
	readonly #root = byId('services');
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor() {
		model.on(['view'], () => void this.#ask());
	}

	async #ask(): Promise<void> {
		clearTimeout(this.#timer);
		if (model.view !== 'services') return;
		try {
			const answer = await fetch('/status');
			if (answer.ok) this.#draw((await answer.json()) as Status);
		} catch {
			// The page says that nobody answers.
		}
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => void this.#ask(), AGAIN_MS);
	}

	#draw({services, sessions}: Status): void {
		const names = ['Service', 'State', 'Transport', 'Version', 'Tools', 'Sessions', 'Restarts', 'Last error'];
		const head = element('tr', {}, ...names.map(name => element('th', {scope: 'col'}, name)));
		const rows = Object.entries(services).map(([name, service]) => rowOf(name, service));
		this.#root.replaceChildren(
			element('h2', {}, `Services: ${rows.length} · sessions: ${sessions}`),
			element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows)),
		);
	}
}

const looks: {readonly [state: string]: string} = {
	ready: 'ok',
	failed: 'error',
	idle: 'open',
	starting: 'open',
};

function rowOf(name: string, service: Service): HTMLElement {
	const {state, transport, version, deprecated, lost, tools, sessions, restarts, lastError} = service;
	const show = element('button', {type: 'button', class: 'quiet', title: 'Show its traffic'}, visible(name));
	show.addEventListener('click', () => {
		model.setFilter({server: name});
		model.setView('list');
	});
	const features = Object.keys(lost);
	const missing =
		features.length === 0
			? undefined
			: element('details', {}, element('summary', {}, `lost: ${features.length}`), listed(features));
	const spoken = element(
		'td',
		{},
		visible(version ?? '–'),
		deprecated ? element('span', {class: 'old'}, ' deprecated') : undefined,
		missing,
	);
	return element(
		'tr',
		{},
		element('td', {class: 'name-cell'}, show),
		element('td', {}, element('span', {class: `status ${looks[state] ?? 'open'}`}, visible(state))),
		element('td', {}, visible(transport)),
		spoken,
		...[tools ?? '–', sessions, restarts].map(value => element('td', {}, String(value))),
		element('td', {class: 'why'}, visible(lastError ?? '')),
	);
}

const listed = (names: readonly string[]): HTMLElement =>
	element('ul', {}, ...names.map(name => element('li', {}, visible(name))));

export const services = new Services();
