import {BoundedMap} from '../bounded-map.js';
import type {Log} from '../log.js';
import type {Shelf} from '../tool-shelf.js';
import {ToolsCache} from '../tools-cache.js';

export type ToolCachesOptions = {
	/** The server's name. */
	readonly server: string;
	readonly log: Log;
	/** Where replicas keep lists of tools for each other, by whose they are. */
	readonly shelfFor: (() => ((...whose: readonly string[]) => Shelf) | undefined) | undefined;
};

/** Credentials whose lists of tools are kept at a time. The oldest is forgotten for the next. */
export const MAX_CACHES = 1000;

/** The tools of one server, as each of its callers sees them. */
export class ToolCaches {
	readonly #options: ToolCachesOptions;
	readonly #caches = new BoundedMap<string, ToolsCache>(MAX_CACHES);

	constructor(options: ToolCachesOptions) {
		this.#options = options;
	}

	/** Where they are kept for callers with this credential. */
	for(principal: string): ToolsCache {
		const cache = this.#caches.get(principal) ?? this.#newCache(principal);
		this.#caches.set(principal, cache);
		return cache;
	}

	/** How many requests for them were answered from what is kept, and how many were not. */
	counts(): {readonly hits: number; readonly misses: number} {
		const all = [...this.#caches.values()].map(({counts}) => counts);
		return {
			hits: all.reduce((sum, {hits}) => sum + hits, 0),
			misses: all.reduce((sum, {misses}) => sum + misses, 0),
		};
	}

	#newCache(principal: string): ToolsCache {
		const {server, log, shelfFor} = this.#options;
		const shelf = shelfFor?.();
		return new ToolsCache({server, log, shelf: shelf && (version => shelf(server, principal, version))});
	}
}
