import type {ExposeMode} from '../config/schema.js';
import type {HubUpstream} from './hub-upstream.js';
import type {HubUpstreams} from './hub-upstreams.js';
import {RpcError, unknownItemMessage} from './pending-client-requests.js';
import {stripServerPrefix, unifiedNames} from './unified-names.js';
import {itemJson, type ListedItem} from './upstream-lists.js';
import {waitUntilSettled} from './wait-until-settled.js';

type MergedToolsOptions = {
	readonly upstreams: HubUpstreams;
	readonly expose: () => ExposeMode;
	readonly runToolJson: () => string;
};

/** The tools of all upstreams in one list, and the upstream of each. */
export class MergedTools {
	readonly #options: MergedToolsOptions;
	/**
	 * The tools by their names in the list, including those of disconnected upstreams. Undefined after a
	 * change.
	 */
	#cachedByName: Map<string, ListedItem> | undefined;

	constructor(options: MergedToolsOptions) {
		this.#options = options;
	}

	invalidate(): void {
		this.#cachedByName = undefined;
	}

	get #byName(): Map<string, ListedItem> {
		this.#cachedByName ??= unifiedNames(this.#options.upstreams.all.flatMap(({tools}) => tools));
		return this.#cachedByName;
	}

	get hasRunTool(): boolean {
		return this.#options.expose() !== 'tools';
	}

	resultJson(): string {
		const {upstreams, expose, runToolJson} = this.#options;
		const tools = this.hasRunTool ? [runToolJson()] : [];
		if (expose() !== 'run')
			for (const [name, tool] of this.#byName)
				if (upstreams.get(tool.server)?.state === 'connected') tools.push(itemJson('name', name, tool));
		return `{"tools":[${tools.join(',')}]}`;
	}

	/** Waits for connecting upstreams that may have a tool of this name. */
	async waitForTool(name: string, signal: AbortSignal): Promise<void> {
		const {upstreams, expose} = this.#options;
		if (expose() === 'run' || this.#byName.has(name)) return;
		const connecting = upstreams.all.filter(
			upstream => upstream.state === 'connecting' && stripServerPrefix(name, upstream.name) !== undefined,
		);
		await Promise.all(connecting.map(upstream => waitUntilSettled(upstream, signal)));
	}

	/**
	 * Finds a tool and its upstream, or throws an error that suggests similar names. A disconnected upstream is
	 * assumed to have every tool with its prefix: the call is rejected and logged like a call of a listed tool.
	 */
	find(name: string): {readonly upstream: HubUpstream; readonly tool: ListedItem} {
		const {upstreams, expose} = this.#options;
		const tool = expose() === 'run' ? undefined : this.#byName.get(name);
		const upstream = tool && upstreams.get(tool.server);
		if (tool && upstream) return {upstream, tool};
		if (expose() !== 'run')
			for (const disconnected of upstreams.all.filter(({state}) => state !== 'connected')) {
				const toolName = stripServerPrefix(name, disconnected.name);
				if (toolName !== undefined)
					return {upstream: disconnected, tool: assumedTool(disconnected.name, toolName)};
			}
		const names = [...(this.hasRunTool ? ['run'] : []), ...(expose() === 'run' ? [] : this.#byName.keys())];
		throw new RpcError(-32602, unknownItemMessage('tool', name, names));
	}
}

/** A tool that a disconnected upstream may have. */
const assumedTool = (server: string, name: string): ListedItem => ({
	server,
	name,
	rest: '{}',
	body: {},
});
