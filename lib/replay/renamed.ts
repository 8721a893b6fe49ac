import {BoundedMap} from '../bounded-map.js';
import {isObject} from '../protocol/json.js';
import {ExactNumbers} from '../wire/exact-numbers.js';
import {idsIn, withIds} from './alike.js';

/** So many names are kept in mind, and none that is longer. */
const MAX_NAMES = 10_000;
const MAX_LENGTH = 1000;

/**
 * What goes by another name live than when it was recorded: sessions, tasks, pages of a list. A recorded client that was told
 * one name goes on to use it, and so the live server has to hear the other.
 */
export class Renamed {
	readonly #names = new BoundedMap<string, string>(MAX_NAMES);

	/** A text of the server that is another one than when it was recorded. */
	note(recorded: string, live: string): void {
		if (recorded.length <= MAX_LENGTH) this.#names.set(recorded, live);
		const [ids, liveIds] = [idsIn(recorded), idsIn(live)];
		if (ids.length !== liveIds.length) return;
		for (const [at, id] of ids.entries()) if (id !== liveIds[at]) this.#names.set(id, liveIds[at] ?? id);
	}

	/** A message of the client, with the names that are right now. */
	apply(line: Buffer): Buffer {
		if (this.#names.size === 0) return line;
		const exact = new ExactNumbers();
		const before = exact.parse(line.toString());
		const after = this.#renamed(before);
		return after === before ? line : Buffer.from(`${exact.write(after)}\n`);
	}

	/** The value itself, where nothing in it has another name. */
	#renamed(value: unknown): unknown {
		if (typeof value === 'string')
			return this.#names.get(value) ?? withIds(value, id => this.#names.get(id) ?? id);
		if (Array.isArray(value)) {
			const items = value.map(item => this.#renamed(item));
			return items.some((item, at) => item !== value[at]) ? items : value;
		}
		if (!isObject(value)) return value;
		const entries = Object.entries(value).map(([name, item]): [string, unknown] => [
			name,
			this.#renamed(item),
		]);
		return entries.some(([name, item]) => item !== value[name]) ? Object.fromEntries(entries) : value;
	}
}
