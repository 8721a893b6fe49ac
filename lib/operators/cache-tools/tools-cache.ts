import type {Log} from '../../core/log.js';
import type {Version} from '../../protocol/version.js';
import {SharedToolList, type SharedToolListOptions} from './shared-tool-list.js';
import type {ToolListStore} from './tool-list-store.js';

export type ToolsCacheOptions = {
	/** The server's name, for people. */
	readonly upstream: string;
	readonly log: Log;
	/** Where others keep the list of those who speak this version, too. */
	readonly store?: ((version: Version) => ToolListStore) | undefined;
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
	readonly #options: Omit<SharedToolListOptions, 'store'>;
	readonly #store: ToolsCacheOptions['store'];
	/** A list is kept as the server gave it, and it may give another to those who speak another version: at most one each. */
	readonly #versions = new Map<Version, SharedToolList>();
	/** How many requests were answered from here, and how many were not. */
	readonly counts = {hits: 0, misses: 0};

	constructor({maxBytes = MAX_BYTES, now = () => performance.now(), store, ...options}: ToolsCacheOptions) {
		this.#store = store;
		this.#options = {maxBytes, now, ...options};
	}

	/** What is kept for conversations that speak this version with the server. */
	forVersion(version: Version): SharedToolList {
		const toolList =
			this.#versions.get(version) ?? new SharedToolList({...this.#options, store: this.#store?.(version)});
		this.#versions.set(version, toolList);
		return toolList;
	}

	/** How many tools the server has, as far as is known. */
	get toolCount(): number | undefined {
		return [...this.#versions.values()].map(({count}) => count).find(count => count !== undefined);
	}
}
