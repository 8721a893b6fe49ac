import {folded, isName, spelled} from './names.js';
import type {Pack, PackTool} from './types.js';

/** The tools of one pack by all the names that a program may write for them. */
export class ToolNames {
	readonly #tools: readonly PackTool[];
	#exact: ReadonlyMap<string, PackTool> | undefined;
	#alike: ReadonlyMap<string, readonly PackTool[]> | undefined;

	constructor({tools}: Pick<Pack, 'tools'>) {
		this.#tools = tools;
	}

	/** The tools that a name may mean: the one that is called so, else all that are but for case and punctuation. */
	meantBy(name: string): readonly PackTool[] {
		// Servers may list any number of tools, and each is looked up: of two with one name the first counts.
		this.#exact ??= new Map(this.#tools.toReversed().map(tool => [tool.name, tool]));
		const exact = this.#exact.get(name);
		return exact ? [exact] : (this.#byFold.get(folded(name)) ?? []);
	}

	/** A name of the tool that Python can spell and that means no other; undefined where there is none. */
	spelling({name}: PackTool): string | undefined {
		const candidate = isPlain(name) ? name : spelled(name).replace(/^__+/, '');
		const [meant, another] = isPlain(candidate) ? this.meantBy(candidate) : [];
		return meant?.name === name && !another ? candidate : undefined;
	}

	get #byFold(): ReadonlyMap<string, readonly PackTool[]> {
		if (this.#alike) return this.#alike;
		const alike = new Map<string, PackTool[]>();
		for (const tool of this.#tools) {
			const key = folded(tool.name);
			const others = alike.get(key);
			if (others) others.push(tool);
			else alike.set(key, [tool]);
		}
		this.#alike = alike;
		return alike;
	}
}

/** Names that begin like this are Python's own. */
const isPlain = (name: string): boolean => isName(name) && !name.startsWith('__');
