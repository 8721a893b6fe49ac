import {MAX_WORD} from '../awaited-progress.js';
import {type JsonObject, listOf, objectOf} from '../protocol/json.js';
import {isWrapped} from '../protocol/modern-output.js';
import {WordMap} from '../word-map.js';

/** Tools that are remembered, and the characters of their names. */
const [MAX_TOOLS, MAX_CHARACTERS] = [65_536, 8 * 2 ** 20];

/** The tools of a stateless server whose output is wrapped for clients of the handshake era. */
export class WrappedTools {
	readonly #names = new WordMap<true>(MAX_TOOLS, MAX_CHARACTERS);

	has(name: string | undefined): boolean {
		return name !== undefined && this.#names.has(name);
	}

	/** Takes note of the tools in a result of `tools/list`. */
	learn({tools}: JsonObject): void {
		for (const tool of listOf(tools).map(objectOf)) {
			const name = toolName(tool.name);
			if (name === undefined) continue;
			if (isWrapped(tool)) this.#names.set(name, true);
			else this.#names.delete(name);
		}
	}
}

/** The name of a tool, if it is short enough to be kept. */
export const toolName = (name: unknown): string | undefined =>
	typeof name === 'string' && name.length <= MAX_WORD ? name : undefined;
