import {foldName, isPythonName, toPythonName} from './python-identifiers.js';
import type {Pack, PackTool} from './types.js';

/** The tools of one pack by all the names that a program may write for them. */
export class ToolNames {
	readonly #tools: readonly PackTool[];
	#exactIndex: ReadonlyMap<string, PackTool> | undefined;
	#foldedIndex: ReadonlyMap<string, readonly PackTool[]> | undefined;

	constructor({tools}: Pick<Pack, 'tools'>) {
		this.#tools = tools;
	}

	/** The tools that a name may mean: the one that is called so, else all that are but for case and punctuation. */
	matching(name: string): readonly PackTool[] {
		// Servers may list any number of tools, and each is looked up: of two with one name the first counts.
		this.#exactIndex ??= new Map(this.#tools.toReversed().map(tool => [tool.name, tool]));
		const exact = this.#exactIndex.get(name);
		return exact ? [exact] : (this.#byFoldedName.get(foldName(name)) ?? []);
	}

	/** A name of the tool that Python can spell and that means no other; undefined where there is none. */
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

/** Names that begin like this are Python's own. */
const isPublicName = (name: string): boolean => isPythonName(name) && !name.startsWith('__');
