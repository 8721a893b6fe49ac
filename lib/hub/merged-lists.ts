import type {Log} from '../core/log.js';
import {BoundedMap} from '../util/bounded-map.js';
import {CoalescedReads} from './coalesced-reads.js';
import type {HubUpstream} from './hub-upstream.js';
import type {HubUpstreams} from './hub-upstreams.js';
import {RpcError, unknownItemMessage} from './pending-client-requests.js';
import {unifiedNames} from './unified-names.js';
import {itemJson, type ListedItem, readList} from './upstream-lists.js';
import {compileUriTemplate, type UriMatcher} from './uri-template.js';

export type MergedListKind = 'resources' | 'resourceTemplates' | 'prompts';

/**
 * The method of each list, the member that identifies its items, and the capability that an upstream needs.
 */
const listKinds = {
	resources: {method: 'resources/list', key: 'uri', capability: 'resources'},
	resourceTemplates: {method: 'resources/templates/list', key: 'uriTemplate', capability: 'resources'},
	prompts: {method: 'prompts/list', key: 'name', capability: 'prompts'},
} as const;

/** Resources whose upstream is cached. The oldest is evicted. */
const MAX_CACHED_RESOURCES = 100_000;

/**
 * The maximum number of templates of one upstream that URIs are matched against. Resources of further
 * templates can be read only if they are listed.
 */
const MAX_TEMPLATES = 200;

/** The merged resources and prompts of all upstreams, and the upstream of each. */
export class MergedLists {
	readonly #upstreams: HubUpstreams;
	readonly #log: Log;
	readonly #upstreamNameByUri = new BoundedMap<string, string>(MAX_CACHED_RESOURCES);
	#templateItems: ReadonlyMap<string, ListedItem> = new Map();
	#uriTemplates: readonly {readonly server: string; readonly matches: UriMatcher}[] = [];
	#prompts: ReadonlyMap<string, ListedItem> = new Map();
	readonly #promptReads = new CoalescedReads(() => this.#refresh('prompts'));
	readonly #resourceReads = new CoalescedReads(() => this.#refresh('resources', 'resourceTemplates'));

	constructor(upstreams: HubUpstreams, log: Log) {
		this.#upstreams = upstreams;
		this.#log = log;
	}

	/**
	 * Called when an upstream connects, disconnects or changes a list. Items that were not found before may
	 * exist now.
	 */
	invalidate(): void {
		this.#promptReads.invalidate();
		this.#resourceReads.invalidate();
	}

	async resultJson(kind: MergedListKind, signal: AbortSignal): Promise<string> {
		const {key} = listKinds[kind];
		const names = await this.#readByName(kind, signal);
		return `{"${kind}":[${[...names].map(([name, item]) => itemJson(key, name, item)).join(',')}]}`;
	}

	/** Finds the upstream of a prompt, and the upstream's name for it. */
	async findPrompt(
		name: string,
		signal: AbortSignal,
	): Promise<{readonly upstream: HubUpstream; readonly name: string}> {
		if (!this.#prompts.has(name)) await this.#promptReads.ensureRecent(signal);
		const found = this.#prompts.get(name);
		const upstream = found && this.#upstreams.get(found.server);
		if (!found || !upstream)
			throw new RpcError(-32602, unknownItemMessage('prompt', name, [...this.#prompts.keys()]));
		return {upstream, name: found.name};
	}

	/**
	 * Finds the upstream of a resource: the one that listed it, or has a matching template. Otherwise, the only
	 * upstream with resources.
	 */
	async upstreamOfResource(uri: string, signal: AbortSignal): Promise<HubUpstream> {
		const cached = this.#cachedUpstream(uri);
		if (cached) return cached;
		await this.#resourceReads.ensureRecent(signal);
		const found = this.#cachedUpstream(uri);
		if (found) return found;
		const [only, another] = this.#upstreamsWith('resources');
		if (only && !another) return only;
		throw new RpcError(-32002, `Resource not found: ${uri.slice(0, 200)}`);
	}

	async #readByName(kind: MergedListKind, signal?: AbortSignal): Promise<ReadonlyMap<string, ListedItem>> {
		const items = await this.#read(kind, signal);
		const names = kind === 'prompts' ? unifiedNames(items) : firstByName(items);
		this.#cache(kind, names);
		return names;
	}

	async #refresh(...kinds: readonly MergedListKind[]): Promise<void> {
		await Promise.all(kinds.map(kind => this.#readByName(kind)));
	}

	#cachedUpstream(uri: string): HubUpstream | undefined {
		const server =
			this.#upstreamNameByUri.get(uri) ??
			this.#templateItems.get(uri)?.server ??
			this.#uriTemplates.find(({matches}) => matches(uri))?.server;
		return server === undefined ? undefined : this.#upstreams.get(server);
	}

	#upstreamsWith(capability: string): HubUpstream[] {
		return this.#upstreams.connected.filter(upstream => upstream.hasCapability(capability));
	}

	#cache(kind: MergedListKind, names: ReadonlyMap<string, ListedItem>): void {
		if (kind === 'prompts') this.#prompts = names;
		if (kind === 'resources') for (const [uri, {server}] of names) this.#upstreamNameByUri.set(uri, server);
		if (kind === 'resourceTemplates') {
			this.#templateItems = names;
			this.#uriTemplates = firstOfEachServer(names.values(), MAX_TEMPLATES).map(({server, name}) => ({
				server,
				matches: compileUriTemplate(name),
			}));
		}
	}

	/** Reads the list of every upstream that has one. A list that cannot be read is logged and omitted. */
	async #read(kind: MergedListKind, signal?: AbortSignal): Promise<ListedItem[]> {
		const {method, key, capability} = listKinds[kind];
		const lists = this.#upstreamsWith(capability).map(async ({name: server, rpc}) => {
			try {
				return rpc ? await readList(rpc, {server, method, member: kind, key, signal}) : [];
			} catch (error) {
				if (signal?.aborted) throw error;
				const sentence = `${server} ${(error as Error).message}. Its items are omitted.`;
				this.#log.warn('hub.list.failed', sentence, {server, method});
				return [];
			}
		});
		return (await Promise.all(lists)).flat();
	}
}

/** If two upstreams have an item with the same name, the first one is used. */
function firstByName(items: readonly ListedItem[]): Map<string, ListedItem> {
	const names = new Map<string, ListedItem>();
	for (const item of items) if (!names.has(item.name)) names.set(item.name, item);
	return names;
}

/** Returns the first items of each upstream, so that a long list of one does not displace those of others. */
function firstOfEachServer(items: Iterable<ListedItem>, limit: number): ListedItem[] {
	const counts = new Map<string, number>();
	return [...items].filter(({server}) => {
		const count = (counts.get(server) ?? 0) + 1;
		counts.set(server, count);
		return count <= limit;
	});
}
