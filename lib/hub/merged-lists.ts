import {BoundedMap} from '../bounded-map.js';
import type {Log} from '../log.js';
import {RpcError, unknown} from './client-requests.js';
import type {Member} from './member.js';
import {type Listed, listedAs, readList} from './member-tools.js';
import type {Members} from './members.js';
import {unifiedNames} from './names.js';
import {SharedReads} from './shared-reads.js';
import {type UriTemplate, uriTemplate} from './uri-template.js';

/** What is merged beside tools. */
export type Kind = 'resources' | 'resourceTemplates' | 'prompts';

/** How each kind is asked for, by which member its items are known, and which capability a server has that has some. */
const kinds = {
	resources: {method: 'resources/list', key: 'uri', capability: 'resources'},
	resourceTemplates: {method: 'resources/templates/list', key: 'uriTemplate', capability: 'resources'},
	prompts: {method: 'prompts/list', key: 'name', capability: 'prompts'},
} as const;

/** Resources whose servers are known; the oldest is forgotten for the next, and looked for anew. */
const MAX_OWNERS = 100_000;

/** Templates of each server that URIs are matched against. Resources of the others can be read if they are listed. */
const MAX_TEMPLATES = 200;

/** Resources and prompts of all servers in one list each, and whose each of them is. */
export class MergedLists {
	readonly #members: Members;
	readonly #log: Log;
	readonly #owners = new BoundedMap<string, string>(MAX_OWNERS);
	#templateNames: ReadonlyMap<string, Listed> = new Map();
	#templates: readonly {readonly server: string; readonly fits: UriTemplate}[] = [];
	#prompts: ReadonlyMap<string, Listed> = new Map();
	readonly #promptReads = new SharedReads(() => this.#reread('prompts'));
	readonly #resourceReads = new SharedReads(() => this.#reread('resources', 'resourceTemplates'));

	constructor(members: Members, log: Log) {
		this.#members = members;
		this.#log = log;
	}

	/** A server came, went, or notified a change of a list: an item that was not found may be there now. */
	changed(): void {
		this.#promptReads.expire();
		this.#resourceReads.expire();
	}

	/** The result of a request for a list, as text. */
	async text(kind: Kind, signal: AbortSignal): Promise<string> {
		const {key} = kinds[kind];
		const names = await this.#names(kind, signal);
		return `{"${kind}":[${[...names].map(([name, item]) => listedAs(key, name, item)).join(',')}]}`;
	}

	/** Whose prompt this is, and what its server calls it. */
	async prompt(name: string, signal: AbortSignal): Promise<{readonly member: Member; readonly name: string}> {
		if (!this.#prompts.has(name)) await this.#promptReads.recent(signal);
		const found = this.#prompts.get(name);
		const member = found && this.#members.get(found.server);
		if (!found || !member) throw new RpcError(-32602, unknown('prompt', name, [...this.#prompts.keys()]));
		return {member, name: found.name};
	}

	/** Whose resource this is: who has listed it, or has a template that it fits; else the only one that has any. */
	async owner(uri: string, signal: AbortSignal): Promise<Member> {
		const known = this.#knownOwner(uri);
		if (known) return known;
		await this.#resourceReads.recent(signal);
		const found = this.#knownOwner(uri);
		if (found) return found;
		const [only, another] = this.#offering('resources');
		if (only && !another) return only;
		throw new RpcError(-32002, `Resource not found: ${uri.slice(0, 200)}`);
	}

	async #names(kind: Kind, signal?: AbortSignal): Promise<ReadonlyMap<string, Listed>> {
		const items = await this.#read(kind, signal);
		const names = kind === 'prompts' ? unifiedNames(items) : firstOfEach(items);
		this.#note(kind, names);
		return names;
	}

	async #reread(...all: readonly Kind[]): Promise<void> {
		await Promise.all(all.map(kind => this.#names(kind)));
	}

	#knownOwner(uri: string): Member | undefined {
		const server =
			this.#owners.get(uri) ??
			this.#templateNames.get(uri)?.server ??
			this.#templates.find(({fits}) => fits(uri))?.server;
		return server === undefined ? undefined : this.#members.get(server);
	}

	#offering(capability: string): Member[] {
		return this.#members.connected.filter(member => member.offers(capability));
	}

	#note(kind: Kind, names: ReadonlyMap<string, Listed>): void {
		if (kind === 'prompts') this.#prompts = names;
		if (kind === 'resources') for (const [uri, {server}] of names) this.#owners.set(uri, server);
		if (kind === 'resourceTemplates') {
			this.#templateNames = names;
			this.#templates = firstOfServers(names.values(), MAX_TEMPLATES).map(({server, name}) => ({
				server,
				fits: uriTemplate(name),
			}));
		}
	}

	/** The items of all servers that have some. One that fails is left out, and told of. */
	async #read(kind: Kind, signal?: AbortSignal): Promise<Listed[]> {
		const {method, key, capability} = kinds[kind];
		const lists = this.#offering(capability).map(async ({name: server, link}) => {
			try {
				return link ? await readList(link, {server, method, member: kind, key, signal}) : [];
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
function firstOfEach(items: readonly Listed[]): Map<string, Listed> {
	const names = new Map<string, Listed>();
	for (const item of items) if (!names.has(item.name)) names.set(item.name, item);
	return names;
}

/** The first items of each server, so that a long list of one does not displace those of others. */
function firstOfServers(items: Iterable<Listed>, limit: number): Listed[] {
	const counts = new Map<string, number>();
	return [...items].filter(({server}) => {
		const count = (counts.get(server) ?? 0) + 1;
		counts.set(server, count);
		return count <= limit;
	});
}
