import {isAtLeast, isLevel, mostVerbose} from '../../protocol/log-levels.js';

/** What a client hears that has not said what it wants, once another one has. */
const USUAL = 'info';

/** Which log messages each client wants. The server is told what lets all of them through. */
export class WantedLevels<Client> {
	readonly #wanted = new Map<Client, string>();
	/** What the server has been told. */
	told: string | undefined;

	set(client: Client, level: string): void {
		this.#wanted.set(client, level);
	}

	/** The client wants nothing any more: it has left, or the server does not have this. */
	unset(client: Client): void {
		this.#wanted.delete(client);
	}

	/** What lets all through that these clients want; nothing, as long as nobody has ever said. */
	forAll(clients: Iterable<Client>): string | undefined {
		if (this.#wanted.size === 0 && this.told === undefined) return;
		return mostVerbose([...clients].map(client => this.#wanted.get(client) ?? USUAL));
	}

	/** Whether a client is to hear a message of this level. What is no level is for all. */
	hears(client: Client, level: unknown): boolean {
		if (this.told === undefined || !isLevel(level)) return true;
		return isAtLeast(level, this.#wanted.get(client) ?? USUAL);
	}
}
