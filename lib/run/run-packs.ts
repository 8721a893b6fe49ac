import {didYouMean} from '../util/did-you-mean.js';
import {ProgramError} from './program-error.js';
import {formatNames} from './python-identifiers.js';
import {ToolNames} from './tool-names.js';
import type {Pack, PackTool} from './types.js';

/** The reserved name of the built-in pack. */
export const PROXY_PACK = 'proxy';

/** Longer names are truncated. */
const MAX_NAME = 1000;

/** An error for a call whose pack has no connected server. */
export class PackUnavailableError extends ProgramError {
	readonly pack: Pack;

	constructor(pack: Pack) {
		super('ToolError', `Server '${pack.name}' unavailable: ${pack.unavailableReason}`);
		this.pack = pack;
	}
}

/** A tool, and its Python name. Undefined if no unambiguous Python name exists. */
export type NamedTool = {readonly tool: PackTool; readonly pythonName: string | undefined};

/** The packs of one run, by Python name. */
export class RunPacks {
	readonly #packs: Map<string, Pack>;
	readonly #toolNames = new Map<Pack, ToolNames>();
	readonly #tools = new Map<Pack, readonly NamedTool[]>();

	constructor(packs: ReadonlyMap<string, Pack>) {
		this.#packs = new Map(packs);
	}

	/** The Python names of the packs, sorted. */
	get names(): string[] {
		return [...this.#packs.keys()].sort();
	}

	get entries(): IterableIterator<[string, Pack]> {
		return this.#packs.entries();
	}

	get(name: string): Pack | undefined {
		return this.#packs.get(name);
	}

	/**
	 * The tools that can be called through this pack: its own tools, and those of its fallback that it does
	 * not shadow.
	 */
	toolsOf(pack: Pack): readonly NamedTool[] {
		const cached = this.#tools.get(pack);
		if (cached) return cached;
		const names = this.#toolNamesOf(pack);
		const own = pack.tools.map((tool): NamedTool => ({tool, pythonName: names.pythonName(tool)}));
		const fallback =
			pack.fallback?.unavailableReason === undefined && pack.fallback ? this.toolsOf(pack.fallback) : [];
		const all = [...own, ...fallback.filter(({tool}) => names.matching(tool.name).length === 0)];
		this.#tools.set(pack, all);
		return all;
	}

	/** The message of a `NameError`. The name may be a misspelled pack or an undefined variable. */
	unknownNameMessage(unknownName: string): string {
		const name = unknownName.slice(0, MAX_NAME);
		const packs = `Unknown pack '${name}'. Available packs: ${formatNames(this.#packs.keys())}`;
		return `name '${name}' is not defined. ${packs}${suggestion(name, this.names)}`;
	}

	/** Waits while the server that may have the tool is connecting. */
	async waitUntilConnected(packName: string, toolName: string, signal: AbortSignal): Promise<void> {
		const pack = this.#packs.get(packName);
		if (pack?.whenConnected) {
			this.#packs.set(packName, await pack.whenConnected(signal));
			return;
		}
		const {fallback} = pack ?? {};
		if (!pack || !fallback?.whenConnected || this.#matchingTools(pack, toolName).length > 0) return;
		this.#packs.set(packName, {...pack, fallback: await fallback.whenConnected(signal)});
	}

	/** Finds the tool for a name, and the pack that has it. Ignores case and punctuation. */
	findTool(packName: string, toolName: string): {pack: Pack; tool: PackTool} {
		const first = this.#packs.get(packName);
		if (!first) throw new ProgramError('NameError', this.unknownNameMessage(packName));
		for (let pack: Pack | undefined = first; pack; pack = pack.fallback) {
			if (pack.unavailableReason !== undefined) throw new PackUnavailableError(pack);
			const [tool, ...others] = this.#matchingTools(pack, toolName);
			if (tool && others.length > 0) throw ambiguousToolError(packName, toolName, [tool, ...others]);
			if (tool) return {pack, tool};
		}
		const name = toolName.slice(0, MAX_NAME);
		const toolNames = this.toolsOf(first).map(displayName);
		const text = `Tool '${name}' not found in pack '${packName}'. Available: ${formatNames(toolNames)}`;
		throw new ProgramError('ToolNotFound', text + suggestion(name, toolNames));
	}

	#matchingTools(pack: Pack, toolName: string): readonly PackTool[] {
		return this.#toolNamesOf(pack).matching(toolName.slice(0, MAX_NAME));
	}

	#toolNamesOf(pack: Pack): ToolNames {
		const names = this.#toolNames.get(pack) ?? new ToolNames(pack);
		this.#toolNames.set(pack, names);
		return names;
	}
}

/** The Python name of a tool, or its original name if it has none. */
export const displayName = ({tool, pythonName}: NamedTool): string => pythonName ?? tool.name;

function ambiguousToolError(
	packName: string,
	toolName: string,
	candidates: readonly PackTool[],
): ProgramError {
	const candidateNames = formatNames(candidates.map(({name}) => name));
	const name = toolName.slice(0, MAX_NAME);
	return new ProgramError(
		'ToolNotFound',
		`Tool '${name}' of pack '${packName}' is ambiguous. Candidates: ${candidateNames}`,
	);
}

function suggestion(name: string, knownNames: readonly string[]): string {
	const guess = didYouMean(name, knownNames);
	return guess === '' ? '' : `. ${guess}`;
}
