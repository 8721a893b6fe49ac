import {BoundedMap} from '../util/bounded-map.js';
import {isObject} from '../util/json.js';
import {ExactNumbers} from '../wire/exact-numbers.js';
import {extractIds, replaceIds} from './volatile-values.js';

/** Limits of the number of ids, and of the length of an id. */
const MAX_IDS = 10_000;
const MAX_LENGTH = 1000;

/**
 * Maps recorded ids to live ids: of sessions, tasks, pages of a list. A recorded client sends ids that the
 * recorded server has assigned. The live server has assigned others.
 */
export class IdMap {
	readonly #liveByRecorded = new BoundedMap<string, string>(MAX_IDS);

	/** Adds a text of the server that differs from the recorded one, and the ids in it. */
	add(recorded: string, live: string): void {
		if (recorded.length <= MAX_LENGTH) this.#liveByRecorded.set(recorded, live);
		const [ids, liveIds] = [extractIds(recorded), extractIds(live)];
		if (ids.length !== liveIds.length) return;
		for (const [at, id] of ids.entries())
			if (id !== liveIds[at]) this.#liveByRecorded.set(id, liveIds[at] ?? id);
	}

	/** Returns a message of the client with live ids. */
	apply(line: Buffer): Buffer {
		if (this.#liveByRecorded.size === 0) return line;
		const exact = new ExactNumbers();
		const before = exact.parse(line.toString());
		const after = this.#replaceIds(before);
		return after === before ? line : Buffer.from(`${exact.stringify(after)}\n`);
	}

	/** Returns the same value if it contains no mapped id. */
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
