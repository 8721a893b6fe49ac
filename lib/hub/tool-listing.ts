import type {Expose} from '../config/schema.js';
import {arrival} from './arrival.js';
import {RpcError, unknown} from './client-requests.js';
import type {Member} from './member.js';
import {type Listed, listedAs} from './member-tools.js';
import type {Members} from './members.js';
import {ownPart, unifiedNames} from './names.js';

export type ToolListingOptions = {
	readonly members: Members;
	readonly expose: () => Expose;
	/** The `run` tool as it is listed. */
	readonly runTool: () => string;
};

/** The tools of all servers in one list, and where each of them goes. */
export class ToolListing {
	readonly #options: ToolListingOptions;
	/** The tools of all servers by the names in the list, also of those that are away. Undefined when it has to be made anew. */
	#routes: Map<string, Listed> | undefined;

	constructor(options: ToolListingOptions) {
		this.#options = options;
	}

	/** A server came, went, or has other tools. */
	changed(): void {
		this.#routes = undefined;
	}

	get #all(): Map<string, Listed> {
		this.#routes ??= unifiedNames(this.#options.members.all.flatMap(({tools}) => tools));
		return this.#routes;
	}

	get hasRun(): boolean {
		return this.#options.expose() !== 'tools';
	}

	/** The result of `tools/list`, as text. */
	text(): string {
		const {members, expose, runTool} = this.#options;
		const tools = this.hasRun ? [runTool()] : [];
		if (expose() !== 'run')
			for (const [name, tool] of this.#all)
				if (members.get(tool.server)?.state === 'connected') tools.push(listedAs('name', name, tool));
		return `{"tools":[${tools.join(',')}]}`;
	}

	/** Waits for the servers that are still connecting and may have a tool of this name. */
	async arrival(name: string, signal: AbortSignal): Promise<void> {
		const {members, expose} = this.#options;
		if (expose() === 'run' || this.#all.has(name)) return;
		const late = members.all.filter(
			one => one.state === 'connecting' && ownPart(name, one.name) !== undefined,
		);
		await Promise.all(late.map(member => arrival(member, signal)));
	}

	/**
	 * Whose tool is called by this name; fails in words that help. A server that is not connected has each tool that is named
	 * after it: the call is rejected and logged like one of a tool that it had listed.
	 */
	find(name: string): {readonly member: Member; readonly tool: Listed} {
		const {members, expose} = this.#options;
		const tool = expose() === 'run' ? undefined : this.#all.get(name);
		const member = tool && members.get(tool.server);
		if (tool && member) return {member, tool};
		if (expose() !== 'run')
			for (const absent of members.all.filter(({state}) => state !== 'connected')) {
				const own = ownPart(name, absent.name);
				if (own !== undefined) return {member: absent, tool: assumed(absent.name, own)};
			}
		const known = [...(this.hasRun ? ['run'] : []), ...(expose() === 'run' ? [] : this.#all.keys())];
		throw new RpcError(-32602, unknown('tool', name, known));
	}
}

/** A tool that a server which is not connected may have. */
const assumed = (server: string, name: string): Listed => ({
	server,
	name,
	rest: '{}',
	body: {},
});
