import {MAX_IDENTIFIER_LENGTH} from '../../core/requests/progress.js';
import {needsWrapper} from '../../protocol/stateless-output.js';
import {BoundedStringMap} from '../../util/bounded-string-map.js';
import {type JsonObject, listOf, objectOf} from '../../util/json.js';

/** Tools that are remembered, and the characters of their names. */
const [MAX_TOOLS, MAX_CHARACTERS] = [65_536, 8 * 2 ** 20];

/** The tools of a stateless server whose output is wrapped for clients of the handshake era. */
export class WrappedTools {
	readonly #names = new BoundedStringMap<true>(MAX_TOOLS, MAX_CHARACTERS);

	has(name: string | undefined): boolean {
		return name !== undefined && this.#names.has(name);
	}

	/** Takes note of the tools in a result of `tools/list`. */
	update({tools}: JsonObject): void {
		for (const tool of listOf(tools).map(objectOf)) {
			const name = storableToolName(tool.name);
			if (name === undefined) continue;
			if (needsWrapper(tool)) this.#names.set(name, true);
			else this.#names.delete(name);
		}
	}
}

/** The name of a tool, if it is short enough to be kept. */
export const storableToolName = (name: unknown): string | undefined =>
	typeof name === 'string' && name.length <= MAX_IDENTIFIER_LENGTH ? name : undefined;
