import {isAtLeast, isLogLevel, mostVerbose} from '../../protocol/log-levels.js';

/** The level of a client that has set none, once another client has set one. */
const DEFAULT_LEVEL = 'info';

/** The log level of each client. The upstream gets the most verbose of them. */
export class ClientLogLevels<Client> {
	readonly #levels = new Map<Client, string>();
	/** The level that the upstream has accepted. */
	upstreamLevel: string | undefined;

	set(client: Client, level: string): void {
		this.#levels.set(client, level);
	}

	/** Removes the level of a client that has disconnected, or whose request the upstream rejected. */
	unset(client: Client): void {
		this.#levels.delete(client);
	}

	/** The most verbose level of these clients; undefined until a client has set one. */
	effectiveLevel(clients: Iterable<Client>): string | undefined {
		if (this.#levels.size === 0 && this.upstreamLevel === undefined) return;
		return mostVerbose([...clients].map(client => this.#levels.get(client) ?? DEFAULT_LEVEL));
	}

	/** Whether a client gets messages of this level. Messages with an unknown level are for all clients. */
	accepts(client: Client, level: unknown): boolean {
		if (this.upstreamLevel === undefined || !isLogLevel(level)) return true;
		return isAtLeast(level, this.#levels.get(client) ?? DEFAULT_LEVEL);
	}
}
