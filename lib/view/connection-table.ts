import type {ListedConnection} from './page/types.js';

/** Lines of further connections are indexed without a connection and without pairs. */
const MAX_INDEXED_CONNECTIONS = 2 ** 18;

/** Interns repeated texts as numbers. 0 stands for texts over the limit. */
export class NameTable {
	readonly #byText = new Map<string, number>();
	readonly #limit: number;
	readonly texts: string[] = [''];

	constructor(limit: number) {
		this.#limit = limit;
	}

	numberOf(text: string): number {
		const existing = this.#byText.get(text);
		if (existing !== undefined) return existing;
		if (this.texts.length >= this.#limit) return 0;
		this.#byText.set(text, this.texts.length);
		return this.texts.push(text) - 1;
	}
}

/** The connections of a log, numbered from 1. */
export class ConnectionTable {
	readonly #byId = new Map<string, number>();
	readonly all: Array<ListedConnection | undefined> = [undefined];
	/** The numbers of connections changed since the last `takeChanges`. */
	#changed = new Set<number>();

	/**
	 * Returns the number of a connection, and adds it if necessary. `from`, `to` and `event` of its first
	 * line determine which side is the client.
	 */
	numberOf(id: string, row: number, from: string, to: string, event: string | undefined): number {
		const existing = this.#byId.get(id);
		if (existing !== undefined) return existing;
		if (this.all.length >= MAX_INDEXED_CONNECTIONS) return 0;
		const isReversed = event === 'close' ? from !== 'client' : to === 'client';
		const [client, upstream] = isReversed ? [to, from] : [from, to];
		const versions = {clientVersion: undefined, upstreamVersion: undefined};
		const number =
			this.all.push({id, client, upstream, ...versions, first: row, opened: undefined, rows: 0}) - 1;
		this.#byId.set(id, number);
		this.#changed.add(number);
		return number;
	}

	update(number: number, change: (connection: ListedConnection) => void): void {
		const connection = this.all[number];
		if (!connection) return;
		change(connection);
		this.#changed.add(number);
	}

	/** Returns the connections changed since the last call, with their numbers. */
	takeChanges(): Array<readonly [number, ListedConnection]> {
		const changed = [...this.#changed].flatMap(number => {
			const connection = this.all[number];
			return connection ? [[number, {...connection}] as const] : [];
		});
		this.#changed = new Set();
		return changed;
	}
}
