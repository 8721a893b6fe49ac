import type {Log} from '../../core/log.js';
import type {Version} from '../../protocol/version.js';
import {SharedToolList, type SharedToolListOptions} from './shared-tool-list.js';
import type {ToolListStore} from './tool-list-store.js';

export type ToolsCacheOptions = {
	readonly upstream: string;
	readonly log: Log;
	/** The store that shares the list of this version with other replicas. */
	readonly store?: ((version: Version) => ToolListStore) | undefined;
	/** A larger list is not cached: every request for it is forwarded. */
	readonly maxBytes?: number;
	/** A monotonic clock, in milliseconds. */
	readonly now?: () => number;
};

const MAX_BYTES = 16 * 2 ** 20;

/**
 * The tool lists of one upstream, for conversations of one client or of clients with the same credential. The
 * creator must pass it only to the stages of such conversations.
 */
export class ToolsCache {
	readonly #options: Omit<SharedToolListOptions, 'store'>;
	readonly #store: ToolsCacheOptions['store'];
	/** One list per protocol version: upstreams may return different tools for each. */
	readonly #versions = new Map<Version, SharedToolList>();
	/** Requests with a cached response, and forwarded ones. */
	readonly counts = {hits: 0, misses: 0};

	constructor({maxBytes = MAX_BYTES, now = () => performance.now(), store, ...options}: ToolsCacheOptions) {
		this.#store = store;
		this.#options = {maxBytes, now, ...options};
	}

	forVersion(version: Version): SharedToolList {
		const toolList =
			this.#versions.get(version) ?? new SharedToolList({...this.#options, store: this.#store?.(version)});
		this.#versions.set(version, toolList);
		return toolList;
	}

	get toolCount(): number | undefined {
		return [...this.#versions.values()].map(({count}) => count).find(count => count !== undefined);
	}
}
