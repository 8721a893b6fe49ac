import type {Expose} from '../config/schema.js';
import {RpcError, unavailable, unknown} from './client-requests.js';
import type {Member} from './member.js';
import {type Listed, listedAs} from './member-tools.js';
import type {Members} from './members.js';
import {unifiedNames} from './names.js';

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

	/** Whose tool is called by this name; fails in words that help. */
	find(name: string): {readonly member: Member; readonly tool: Listed} {
		const {members, expose} = this.#options;
		const tool = expose() === 'run' ? undefined : this.#all.get(name);
		const member = tool && members.get(tool.server);
		if (tool && member) return {member, tool};
		const absent = members.all.find(one => name.startsWith(`${one.name}__`) && one.state !== 'connected');
		if (absent && expose() !== 'run') throw unavailable(absent);
		const known = [...(this.hasRun ? ['run'] : []), ...(expose() === 'run' ? [] : this.#all.keys())];
		throw new RpcError(-32602, unknown('tool', name, known));
	}
}
