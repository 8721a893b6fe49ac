import type {Log} from '../core/log.js';
import type {ToolListStore} from '../operators/cache-tools/tool-list-store.js';
import {ToolsCache} from '../operators/cache-tools/tools-cache.js';
import {BoundedMap} from '../util/bounded-map.js';

export type ServiceToolsCachesOptions = {
	/** The server's name. */
	readonly server: string;
	readonly log: Log;
	/** Where replicas keep lists of tools for each other, by whose they are. */
	readonly toolListStoreFor: (() => ((...whose: readonly string[]) => ToolListStore) | undefined) | undefined;
};

/** Credentials whose lists of tools are kept at a time. The oldest is forgotten for the next. */
export const MAX_TOOLS_CACHES = 1000;

/** The tools of one server, as each of its callers sees them. */
export class ServiceToolsCaches {
	readonly #options: ServiceToolsCachesOptions;
	readonly #caches = new BoundedMap<string, ToolsCache>(MAX_TOOLS_CACHES);

	constructor(options: ServiceToolsCachesOptions) {
		this.#options = options;
	}

	/** Where they are kept for callers with this credential. */
	forPrincipal(principal: string): ToolsCache {
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
		const {server, log, toolListStoreFor} = this.#options;
		const storeFor = toolListStoreFor?.();
		return new ToolsCache({
			upstream: server,
			log,
			store: storeFor && (version => storeFor(server, principal, version)),
		});
	}
}
