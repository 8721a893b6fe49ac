import type {ViewState} from './types.js';

/** The filter of the page. */
export type PageFilter = {
	readonly text: string;
	readonly method: string;
	readonly server: string;
	readonly conn: string;
	readonly show: string;
};

export const emptyFilter: PageFilter = {text: '', method: '', server: '', conn: '', show: 'all'};

export type ViewName = 'list' | 'sequence' | 'latency' | 'services';

/** The shared state of the page: data and selections. Views subscribe to its changes. */
class PageModel {
	state: ViewState | undefined;
	filter: PageFilter = emptyFilter;
	view: ViewName = 'list';
	/** The selected row, as its number in the log; -1 for none. */
	current = -1;
	/** The connection of the selected row. */
	currentConn = '';
	isDetailOpen = false;
	readonly #listeners = new Map<ModelChange, Set<() => void>>();

	on(changes: readonly ModelChange[], listener: () => void): void {
		for (const change of changes) {
			const listeners = this.#listeners.get(change) ?? new Set();
			listeners.add(listener);
			this.#listeners.set(change, listeners);
		}
	}

	emit(change: ModelChange): void {
		for (const listener of this.#listeners.get(change) ?? []) listener();
	}

	setState(state: ViewState): void {
		const isNewGeneration = state.generation !== this.state?.generation;
		this.state = state;
		if (isNewGeneration) this.emit('generation');
		this.emit('state');
	}

	setFilter(change: Partial<PageFilter>): void {
		this.filter = {...this.filter, ...change};
		this.emit('filter');
	}

	setView(view: ViewName): void {
		this.view = view;
		this.emit('view');
	}

	select(row: number, conn: string): void {
		if (row === this.current) return;
		this.current = row;
		this.currentConn = conn;
		this.emit('current');
	}

	openDetail(isOpen: boolean): void {
		this.isDetailOpen = isOpen;
		this.emit('detail');
	}
}

type ModelChange = 'state' | 'generation' | 'filter' | 'view' | 'current' | 'detail';

export const model = new PageModel();
