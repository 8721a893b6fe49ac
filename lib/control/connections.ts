import {setTimeout as sleep} from 'node:timers/promises';

/** Something between two ends that can be ended. */
export type Connection = {
	/** Says no more to either end, and resolves when what was said is on its way. */
	finish(): Promise<unknown>;
	/** Ends it at once. */
	close(): void;
	/** Resolves when it is over, and that is in the log. */
	readonly over: Promise<void>;
	/** The port that it came in by. */
	readonly port: number;
};

/** How long peers may take to read what was said to them, when all is to end. */
const PATIENCE_MS = 500;

/** The connections that are open: as many as the listeners take. */
export class Connections {
	readonly #open = new Set<Connection>();

	/** How many came in by a port. */
	sizeOf(port: number): number {
		return [...this.#open].filter(connection => connection.port === port).length;
	}

	/** Keeps a connection until it is over. */
	async keep(connection: Connection): Promise<void> {
		this.#open.add(connection);
		await connection.over;
		this.#open.delete(connection);
	}

	/** Ends all of them. What was read is delivered first, where somebody takes it in time. */
	async close(): Promise<void> {
		const all = [...this.#open];
		const finished = Promise.all(all.map(connection => connection.finish()));
		await Promise.race([finished, sleep(PATIENCE_MS, undefined, {ref: false})]);
		for (const connection of all) connection.close();
		await Promise.all(all.map(({over}) => over));
	}
}
