import type {Log} from '../core/log.js';
import {BoundedMap} from '../util/bounded-map.js';
import {CoalescedReads} from './coalesced-reads.js';
import type {HubUpstream} from './hub-upstream.js';
import type {HubUpstreams} from './hub-upstreams.js';
import {RpcError, unknownItemMessage} from './pending-client-requests.js';
import {unifiedNames} from './unified-names.js';
import {itemJson, type ListedItem, readList} from './upstream-lists.js';
import {compileUriTemplate, type UriMatcher} from './uri-template.js';

/** What is merged beside tools. */
export type MergedListKind = 'resources' | 'resourceTemplates' | 'prompts';

/** How each kind is asked for, by which member its items are known, and which capability a server has that has some. */
const listKinds = {
	resources: {method: 'resources/list', key: 'uri', capability: 'resources'},
	resourceTemplates: {method: 'resources/templates/list', key: 'uriTemplate', capability: 'resources'},
	prompts: {method: 'prompts/list', key: 'name', capability: 'prompts'},
} as const;

/** Resources whose servers are known; the oldest is forgotten for the next, and looked for anew. */
const MAX_REMEMBERED_RESOURCES = 100_000;

/** Templates of each server that URIs are matched against. Resources of the others can be read if they are listed. */
const MAX_TEMPLATES = 200;

/** Resources and prompts of all servers in one list each, and whose each of them is. */
export class MergedLists {
	readonly #upstreams: HubUpstreams;
	readonly #log: Log;
	readonly #upstreamNameByUri = new BoundedMap<string, string>(MAX_REMEMBERED_RESOURCES);
	#templateItems: ReadonlyMap<string, ListedItem> = new Map();
	#uriTemplates: readonly {readonly server: string; readonly fits: UriMatcher}[] = [];
	#prompts: ReadonlyMap<string, ListedItem> = new Map();
	readonly #promptReads = new CoalescedReads(() => this.#refresh('prompts'));
	readonly #resourceReads = new CoalescedReads(() => this.#refresh('resources', 'resourceTemplates'));

	constructor(upstreams: HubUpstreams, log: Log) {
		this.#upstreams = upstreams;
		this.#log = log;
	}

	/** A server came, went, or notified a change of a list: an item that was not found may be there now. */
	invalidate(): void {
		this.#promptReads.invalidate();
		this.#resourceReads.invalidate();
	}

	/** The result of a request for a list, as text. */
	async resultJson(kind: MergedListKind, signal: AbortSignal): Promise<string> {
		const {key} = listKinds[kind];
		const names = await this.#readByName(kind, signal);
		return `{"${kind}":[${[...names].map(([name, item]) => itemJson(key, name, item)).join(',')}]}`;
	}

	/** Whose prompt this is, and what its server calls it. */
	async findPrompt(
		name: string,
		signal: AbortSignal,
	): Promise<{readonly member: HubUpstream; readonly name: string}> {
		if (!this.#prompts.has(name)) await this.#promptReads.ensureRecent(signal);
		const found = this.#prompts.get(name);
		const upstream = found && this.#upstreams.get(found.server);
		if (!found || !upstream)
			throw new RpcError(-32602, unknownItemMessage('prompt', name, [...this.#prompts.keys()]));
		return {member: upstream, name: found.name};
	}

	/** Whose resource this is: who has listed it, or has a template that it fits; else the only one that has any. */
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
		this.#remember(kind, names);
		return names;
	}

	async #refresh(...all: readonly MergedListKind[]): Promise<void> {
		await Promise.all(all.map(kind => this.#readByName(kind)));
	}

	#cachedUpstream(uri: string): HubUpstream | undefined {
		const server =
			this.#upstreamNameByUri.get(uri) ??
			this.#templateItems.get(uri)?.server ??
			this.#uriTemplates.find(({fits}) => fits(uri))?.server;
		return server === undefined ? undefined : this.#upstreams.get(server);
	}

	#upstreamsWith(capability: string): HubUpstream[] {
		return this.#upstreams.connected.filter(upstream => upstream.hasCapability(capability));
	}

	#remember(kind: MergedListKind, names: ReadonlyMap<string, ListedItem>): void {
		if (kind === 'prompts') this.#prompts = names;
		if (kind === 'resources') for (const [uri, {server}] of names) this.#upstreamNameByUri.set(uri, server);
		if (kind === 'resourceTemplates') {
			this.#templateItems = names;
			this.#uriTemplates = firstOfEachServer(names.values(), MAX_TEMPLATES).map(({server, name}) => ({
				server,
				fits: compileUriTemplate(name),
			}));
		}
	}

	/** The items of all servers that have some. One that fails is left out, and told of. */
	async #read(kind: MergedListKind, signal?: AbortSignal): Promise<ListedItem[]> {
		const {method, key, capability} = listKinds[kind];
		const lists = this.#upstreamsWith(capability).map(async ({name: server, rpc}) => {
			try {
				return rpc ? await readList(rpc, {server, method, member: kind, key, signal}) : [];
			} catch (error) {
				if (signal?.aborted) throw error;
				const sentence = `${server} ${(error as Error).message}; what it has is left out.`;
				this.#log.warn('hub.list.failed', sentence, {server, method});
				return [];
			}
		});
		return (await Promise.all(lists)).flat();
	}
}

/** What two servers have under one address is taken from the first. */
function firstByName(items: readonly ListedItem[]): Map<string, ListedItem> {
	const names = new Map<string, ListedItem>();
	for (const item of items) if (!names.has(item.name)) names.set(item.name, item);
	return names;
}

/** The first items of each server, so that a long list of one does not displace those of others. */
function firstOfEachServer(items: Iterable<ListedItem>, limit: number): ListedItem[] {
	const counts = new Map<string, number>();
	return [...items].filter(({server}) => {
		const count = (counts.get(server) ?? 0) + 1;
		counts.set(server, count);
		return count <= limit;
	});
}
