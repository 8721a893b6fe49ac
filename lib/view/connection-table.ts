import type {ListedConnection} from './page/types.js';

/** More connections than these are not told apart: their lines are there, without their pairs. */
const MAX_INDEXED_CONNECTIONS = 2 ** 18;

/** Texts that come again and again, by numbers; 0 stands for those that there was no room for. */
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

/** The connections of a log, by numbers from 1 on. */
export class ConnectionTable {
	readonly #byId = new Map<string, number>();
	readonly all: Array<ListedConnection | undefined> = [undefined];
	/** Those that have changed since somebody asked. */
	#changed = new Set<number>();

	/** The number of a connection. The first line of it tells who is the client, if there is nothing better. */
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

	/** Notes something about a connection. */
	update(number: number, change: (connection: ListedConnection) => void): void {
		const connection = this.all[number];
		if (!connection) return;
		change(connection);
		this.#changed.add(number);
	}

	/** What is new since this was called last: numbers and connections. */
	takeChanges(): Array<readonly [number, ListedConnection]> {
		const changed = [...this.#changed].flatMap(number => {
			const connection = this.all[number];
			return connection ? [[number, {...connection}] as const] : [];
		});
		this.#changed = new Set();
		return changed;
	}
}
