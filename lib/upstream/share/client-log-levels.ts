import {isAtLeast, isLogLevel, mostVerbose} from '../../protocol/log-levels.js';

/** What a client hears that has not said what it wants, once another one has. */
const DEFAULT_LEVEL = 'info';

/** Which log messages each client wants. The server is told what lets all of them through. */
export class ClientLogLevels<Client> {
	readonly #levels = new Map<Client, string>();
	/** What the server has been told. */
	upstreamLevel: string | undefined;

	set(client: Client, level: string): void {
		this.#levels.set(client, level);
	}

	/** The client wants nothing any more: it has left, or the server does not have this. */
	unset(client: Client): void {
		this.#levels.delete(client);
	}

	/** What lets all through that these clients want; nothing, as long as nobody has ever said. */
	effectiveLevel(clients: Iterable<Client>): string | undefined {
		if (this.#levels.size === 0 && this.upstreamLevel === undefined) return;
		return mostVerbose([...clients].map(client => this.#levels.get(client) ?? DEFAULT_LEVEL));
	}

	/** Whether a client is to hear a message of this level. What is no level is for all. */
	accepts(client: Client, level: unknown): boolean {
		if (this.upstreamLevel === undefined || !isLogLevel(level)) return true;
		return isAtLeast(level, this.#levels.get(client) ?? DEFAULT_LEVEL);
	}
}
