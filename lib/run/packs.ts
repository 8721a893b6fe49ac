import {nearest} from '../nearest.js';
import {listed} from './names.js';
import {ProgramError} from './program-error.js';
import {ToolNames} from './tool-names.js';
import type {Pack, PackTool} from './types.js';

/** The name of the pack that tells of the others. No other pack can have it. */
export const PROXY = 'proxy';

/** No name of a tool that a program means is longer. */
const MAX_NAME = 1000;

/** A call that cannot be made, since the server of its pack is not connected. */
export class PackUnavailable extends ProgramError {
	readonly pack: Pack;

	constructor(pack: Pack) {
		super('ToolError', `Server '${pack.name}' unavailable: ${pack.unavailable}`);
		this.pack = pack;
	}
}

/** A tool of a pack, and the name that a program writes, if Python can spell one. */
export type NamedTool = {readonly tool: PackTool; readonly spelling: string | undefined};

/** The packs of one run, by the names under which a program finds them. */
export class Packs {
	readonly #packs: Map<string, Pack>;
	readonly #names = new Map<Pack, ToolNames>();
	readonly #tools = new Map<Pack, readonly NamedTool[]>();

	constructor(packs: ReadonlyMap<string, Pack>) {
		this.#packs = new Map(packs);
	}

	/** The names that a program can use, sorted. */
	get names(): string[] {
		return [...this.#packs.keys()].sort();
	}

	get entries(): IterableIterator<[string, Pack]> {
		return this.#packs.entries();
	}

	get(name: string): Pack | undefined {
		return this.#packs.get(name);
	}

	/** All tools that are called by the name of this pack: its own, and those of the pack behind it that it has no namesake for. */
	toolsOf(pack: Pack): readonly NamedTool[] {
		const known = this.#tools.get(pack);
		if (known) return known;
		const names = this.#namesOf(pack);
		const own = pack.tools.map((tool): NamedTool => ({tool, spelling: names.spelling(tool)}));
		const behind = pack.behind?.unavailable === undefined && pack.behind ? this.toolsOf(pack.behind) : [];
		const all = [...own, ...behind.filter(({tool}) => names.meantBy(tool.name).length === 0)];
		this.#tools.set(pack, all);
		return all;
	}

	/** What a `NameError` is to say: the name may be meant as a pack or as a variable. */
	unknown(given: string): string {
		const name = given.slice(0, MAX_NAME);
		const packs = `Unknown pack '${name}'. Available packs: ${listed(this.#packs.keys())}`;
		return `name '${name}' is not defined. ${packs}${meant(name, this.names)}`;
	}

	/** Waits while the server that a tool is looked for at is still connecting. */
	async arrival(packName: string, toolName: string, signal: AbortSignal): Promise<void> {
		const pack = this.#packs.get(packName);
		if (pack?.connecting) {
			this.#packs.set(packName, await pack.connecting(signal));
			return;
		}
		const {behind} = pack ?? {};
		if (!pack || !behind?.connecting || this.#meant(pack, toolName).length > 0) return;
		this.#packs.set(packName, {...pack, behind: await behind.connecting(signal)});
	}

	/** The tool that a program means, and the pack that has it. Case and whatever is no letter or digit do not count. */
	tool(packName: string, toolName: string): {pack: Pack; tool: PackTool} {
		const first = this.#packs.get(packName);
		if (!first) throw new ProgramError('NameError', this.unknown(packName));
		for (let pack: Pack | undefined = first; pack; pack = pack.behind) {
			if (pack.unavailable !== undefined) throw new PackUnavailable(pack);
			const [tool, ...others] = this.#meant(pack, toolName);
			if (tool && others.length > 0) throw ambiguous(packName, toolName, [tool, ...others]);
			if (tool) return {pack, tool};
		}
		const name = toolName.slice(0, MAX_NAME);
		const known = this.toolsOf(first).map(shownName);
		const text = `Tool '${name}' not found in pack '${packName}'. Available: ${listed(known)}`;
		throw new ProgramError('ToolNotFound', text + meant(name, known));
	}

	#meant(pack: Pack, toolName: string): readonly PackTool[] {
		return this.#namesOf(pack).meantBy(toolName.slice(0, MAX_NAME));
	}

	#namesOf(pack: Pack): ToolNames {
		const known = this.#names.get(pack) ?? new ToolNames(pack);
		this.#names.set(pack, known);
		return known;
	}
}

/** The name of a tool as a program would write it, as far as it can. */
export const shownName = ({tool, spelling}: NamedTool): string => spelling ?? tool.name;

function ambiguous(packName: string, toolName: string, alike: readonly PackTool[]): ProgramError {
	const which = listed(alike.map(({name}) => name));
	const name = toolName.slice(0, MAX_NAME);
	return new ProgramError('ToolNotFound', `Tool '${name}' of pack '${packName}' could be any of: ${which}`);
}

function meant(name: string, known: readonly string[]): string {
	const guess = nearest(name, known);
	return guess === '' ? '' : `. ${guess}`;
}
