import type {Log} from './log.js';
import type {Version} from './protocol/version.js';
import {SharedTools, type SharedToolsOptions} from './shared-tools.js';
import type {Shelf} from './tool-shelf.js';

export type ToolsCacheOptions = {
	/** The server's name, for people. */
	readonly server: string;
	readonly log: Log;
	/** Where others keep the list of those who speak this version, too. */
	readonly shelf?: ((version: Version) => Shelf) | undefined;
	/** How large a list may be. A larger one is not kept, and every request for it passed on. */
	readonly maxBytes?: number;
	/** A clock that is never set, in milliseconds. */
	readonly now?: () => number;
};

const MAX_BYTES = 16 * 2 ** 20;

/**
 * The tools of one server, kept for all conversations that may know of each other's: those of one client, or of clients
 * with the same credential. Whoever makes one decides that, and gives it to the stages of these alone.
 */
export class ToolsCache {
	readonly #options: Omit<SharedToolsOptions, 'shelf'>;
	readonly #shelf: ToolsCacheOptions['shelf'];
	/** A list is kept as the server gave it, and it may give another to those who speak another version: at most one each. */
	readonly #versions = new Map<Version, SharedTools>();
	/** How many requests were answered from here, and how many were not. */
	readonly counts = {hits: 0, misses: 0};

	constructor({maxBytes = MAX_BYTES, now = () => performance.now(), shelf, ...options}: ToolsCacheOptions) {
		this.#shelf = shelf;
		this.#options = {maxBytes, now, ...options};
	}

	/** What is kept for conversations that speak this version with the server. */
	at(version: Version): SharedTools {
		const kept =
			this.#versions.get(version) ?? new SharedTools({...this.#options, shelf: this.#shelf?.(version)});
		this.#versions.set(version, kept);
		return kept;
	}

	/** How many tools the server has, as far as is known. */
	get toolCount(): number | undefined {
		return [...this.#versions.values()].map(({count}) => count).find(count => count !== undefined);
	}
}
