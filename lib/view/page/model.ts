import type {State} from './types.js';

/** What is shown of it all. */
export type Filter = {
	readonly text: string;
	readonly method: string;
	readonly server: string;
	readonly conn: string;
	readonly show: string;
};

export const noFilter: Filter = {text: '', method: '', server: '', conn: '', show: 'all'};

export type ViewName = 'list' | 'sequence' | 'latency' | 'services';

/** What the page knows and what is chosen on it, in one place. Whoever shows a part of it is told when that changes. */
class Model {
	state: State | undefined;
	filter: Filter = noFilter;
	view: ViewName = 'list';
	/** The row that is looked at, by its number in the log; -1 for none. */
	current = -1;
	/** The connection that it is of. */
	currentConn = '';
	isDetailOpen = false;
	readonly #listeners = new Map<Change, Set<() => void>>();

	on(changes: readonly Change[], hear: () => void): void {
		for (const change of changes) {
			const listeners = this.#listeners.get(change) ?? new Set();
			listeners.add(hear);
			this.#listeners.set(change, listeners);
		}
	}

	tell(change: Change): void {
		for (const hear of this.#listeners.get(change) ?? []) hear();
	}

	setState(state: State): void {
		const isOther = state.generation !== this.state?.generation;
		this.state = state;
		if (isOther) this.tell('generation');
		this.tell('state');
	}

	setFilter(change: Partial<Filter>): void {
		this.filter = {...this.filter, ...change};
		this.tell('filter');
	}

	setView(view: ViewName): void {
		this.view = view;
		this.tell('view');
	}

	choose(row: number, conn: string): void {
		if (row === this.current) return;
		this.current = row;
		this.currentConn = conn;
		this.tell('current');
	}

	openDetail(isOpen: boolean): void {
		this.isDetailOpen = isOpen;
		this.tell('detail');
	}
}

export type Change = 'state' | 'generation' | 'filter' | 'view' | 'current' | 'detail';

export const model = new Model();
