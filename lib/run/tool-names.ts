import {foldName, isPythonName, toPythonName} from './python-identifiers.js';
import type {Pack, PackTool} from './types.js';

/** Finds the tools of one pack by the names that a program may use. */
export class ToolNames {
	readonly #tools: readonly PackTool[];
	#exactIndex: ReadonlyMap<string, PackTool> | undefined;
	#foldedIndex: ReadonlyMap<string, readonly PackTool[]> | undefined;

	constructor({tools}: Pick<Pack, 'tools'>) {
		this.#tools = tools;
	}

	/** The tool with exactly this name, or else all tools whose names differ only in case and punctuation. */
	matching(name: string): readonly PackTool[] {
		// Indexed, since servers may list any number of tools. The first of several tools with the same name
		// wins.
		this.#exactIndex ??= new Map(this.#tools.toReversed().map(tool => [tool.name, tool]));
		const exact = this.#exactIndex.get(name);
		return exact ? [exact] : (this.#byFoldedName.get(foldName(name)) ?? []);
	}

	/** An unambiguous Python name of the tool, or undefined. */
	pythonName({name}: PackTool): string | undefined {
		const candidate = isPublicName(name) ? name : toPythonName(name).replace(/^__+/, '');
		const [match, another] = isPublicName(candidate) ? this.matching(candidate) : [];
		return match?.name === name && !another ? candidate : undefined;
	}

	get #byFoldedName(): ReadonlyMap<string, readonly PackTool[]> {
		if (this.#foldedIndex) return this.#foldedIndex;
		const byFoldedName = new Map<string, PackTool[]>();
		for (const tool of this.#tools) {
			const key = foldName(tool.name);
			const others = byFoldedName.get(key);
			if (others) others.push(tool);
			else byFoldedName.set(key, [tool]);
		}
		this.#foldedIndex = byFoldedName;
		return byFoldedName;
	}
}

/** Names with leading underscores are reserved by Python. */
const isPublicName = (name: string): boolean => isPythonName(name) && !name.startsWith('__');
