import {MAX_IDENTIFIER_LENGTH} from '../../core/requests/progress.js';
import {needsWrapper} from '../../protocol/stateless-output.js';
import {BoundedStringMap} from '../../util/bounded-string-map.js';
import {type JsonObject, listOf, objectOf} from '../../util/json.js';

/** Stored tools, and the characters of their names. */
const [MAX_TOOLS, MAX_CHARACTERS] = [65_536, 8 * 2 ** 20];

/** The tools of a stateless upstream whose output is wrapped for handshake clients. */
export class WrappedTools {
	readonly #names = new BoundedStringMap<true>(MAX_TOOLS, MAX_CHARACTERS);

	has(name: string | undefined): boolean {
		return name !== undefined && this.#names.has(name);
	}

	update({tools}: JsonObject): void {
		for (const tool of listOf(tools).map(objectOf)) {
			const name = storableToolName(tool.name);
			if (name === undefined) continue;
			if (needsWrapper(tool)) this.#names.set(name, true);
			else this.#names.delete(name);
		}
	}
}

/** The name of a tool; undefined if it is too long to be stored. */
export const storableToolName = (name: unknown): string | undefined =>
	typeof name === 'string' && name.length <= MAX_IDENTIFIER_LENGTH ? name : undefined;
