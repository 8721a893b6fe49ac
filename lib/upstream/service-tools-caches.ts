import type {Log} from '../core/log.js';
import type {ToolListStore} from '../operators/cache-tools/tool-list-store.js';
import {ToolsCache} from '../operators/cache-tools/tools-cache.js';
import {BoundedMap} from '../util/bounded-map.js';

export type ServiceToolsCachesOptions = {
	readonly upstream: string;
	readonly log: Log;
	/** Returns the store that replicas share for the tool lists of one owner. */
	readonly toolListStoreFor: (() => ((...owner: readonly string[]) => ToolListStore) | undefined) | undefined;
};

/** Limit of principals with cached tools. The oldest is evicted. */
export const MAX_TOOLS_CACHES = 1000;

export class ServiceToolsCaches {
	readonly #options: ServiceToolsCachesOptions;
	readonly #caches = new BoundedMap<string, ToolsCache>(MAX_TOOLS_CACHES);

	constructor(options: ServiceToolsCachesOptions) {
		this.#options = options;
	}

	forPrincipal(principal: string): ToolsCache {
		const cache = this.#caches.get(principal) ?? this.#newCache(principal);
		this.#caches.set(principal, cache);
		return cache;
	}

	counts(): {readonly hits: number; readonly misses: number} {
		const all = [...this.#caches.values()].map(({counts}) => counts);
		return {
			hits: all.reduce((sum, {hits}) => sum + hits, 0),
			misses: all.reduce((sum, {misses}) => sum + misses, 0),
		};
	}

	#newCache(principal: string): ToolsCache {
		const {upstream, log, toolListStoreFor} = this.#options;
		const storeFor = toolListStoreFor?.();
		return new ToolsCache({
			upstream,
			log,
			store: storeFor && (version => storeFor(upstream, principal, version)),
		});
	}
}
