import {BoundedMap} from '../util/bounded-map.js';
import {isObject} from '../util/json.js';
import {ExactNumbers} from '../wire/exact-numbers.js';
import {extractIds, replaceIds} from './volatile-values.js';

/** So many names are kept in mind, and none that is longer. */
const MAX_IDS = 10_000;
const MAX_LENGTH = 1000;

/**
 * What goes by another name live than when it was recorded: sessions, tasks, pages of a list. A recorded client that was told
 * one name goes on to use it, and so the live server has to hear the other.
 */
export class IdMap {
	readonly #liveByRecorded = new BoundedMap<string, string>(MAX_IDS);

	/** A text of the server that is another one than when it was recorded. */
	add(recorded: string, live: string): void {
		if (recorded.length <= MAX_LENGTH) this.#liveByRecorded.set(recorded, live);
		const [ids, liveIds] = [extractIds(recorded), extractIds(live)];
		if (ids.length !== liveIds.length) return;
		for (const [at, id] of ids.entries())
			if (id !== liveIds[at]) this.#liveByRecorded.set(id, liveIds[at] ?? id);
	}

	/** A message of the client, with the names that are right now. */
	apply(line: Buffer): Buffer {
		if (this.#liveByRecorded.size === 0) return line;
		const exact = new ExactNumbers();
		const before = exact.parse(line.toString());
		const after = this.#replaceIds(before);
		return after === before ? line : Buffer.from(`${exact.stringify(after)}\n`);
	}

	/** The value itself, where nothing in it has another name. */
	#replaceIds(value: unknown): unknown {
		if (typeof value === 'string')
			return this.#liveByRecorded.get(value) ?? replaceIds(value, id => this.#liveByRecorded.get(id) ?? id);
		if (Array.isArray(value)) {
			const items = value.map(item => this.#replaceIds(item));
			return items.some((item, at) => item !== value[at]) ? items : value;
		}
		if (!isObject(value)) return value;
		const entries = Object.entries(value).map(([name, item]): [string, unknown] => [
			name,
			this.#replaceIds(item),
		]);
		return entries.some(([name, item]) => item !== value[name]) ? Object.fromEntries(entries) : value;
	}
}
