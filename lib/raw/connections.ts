import {setTimeout as sleep} from 'node:timers/promises';

/** Something between two ends that can be ended. */
export type RawConnection = {
	/** Says no more to either end, and resolves when what was said is on its way. */
	finish(): Promise<unknown>;
	/** Ends it at once. */
	close(): void;
	/** Resolves when it is over, and that is in the log. */
	readonly closed: Promise<void>;
	/** The port that it came in by. */
	readonly port: number;
};

/** How long peers may take to read what was said to them, when all is to end. */
const FINISH_TIMEOUT_MS = 500;

/** The connections that are open: as many as the listeners take. */
export class RawConnections {
	readonly #open = new Set<RawConnection>();

	/** How many came in by a port. */
	countOf(port: number): number {
		return [...this.#open].filter(connection => connection.port === port).length;
	}

	/** Keeps a connection until it is over. */
	async add(connection: RawConnection): Promise<void> {
		this.#open.add(connection);
		await connection.closed;
		this.#open.delete(connection);
	}

	/** Ends all of them. What was read is delivered first, where somebody takes it in time. */
	async close(): Promise<void> {
		const all = [...this.#open];
		const finished = Promise.all(all.map(connection => connection.finish()));
		await Promise.race([finished, sleep(FINISH_TIMEOUT_MS, undefined, {ref: false})]);
		for (const connection of all) connection.close();
		await Promise.all(all.map(({closed: over}) => over));
	}
}
