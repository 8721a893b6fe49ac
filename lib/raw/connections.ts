import {setTimeout as sleep} from 'node:timers/promises';

export type RawConnection = {
	/** Ends the output to both sides. Resolves when everything has been sent. */
	finish(): Promise<unknown>;
	close(): void;
	/** Resolves when it has closed and its close event is logged. */
	readonly closed: Promise<void>;
	readonly port: number;
};

/** How long peers may take to read the remaining bytes on shutdown. */
const FINISH_TIMEOUT_MS = 500;

/** The open connections. The listeners limit their number. */
export class RawConnections {
	readonly #open = new Set<RawConnection>();

	countOf(port: number): number {
		return [...this.#open].filter(connection => connection.port === port).length;
	}

	async add(connection: RawConnection): Promise<void> {
		this.#open.add(connection);
		await connection.closed;
		this.#open.delete(connection);
	}

	/** Closes all connections. Bytes that were read are delivered first, within a time limit. */
	async close(): Promise<void> {
		const all = [...this.#open];
		const finished = Promise.all(all.map(connection => connection.finish()));
		await Promise.race([finished, sleep(FINISH_TIMEOUT_MS, undefined, {ref: false})]);
		for (const connection of all) connection.close();
		await Promise.all(all.map(({closed}) => closed));
	}
}
