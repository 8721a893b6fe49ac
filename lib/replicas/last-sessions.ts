import {performance} from 'node:perf_hooks';
import {BoundedMap} from '../bounded-map.js';
import {shortKey} from '../short-key.js';
import type {Holder} from './session-ids.js';
import type {Store} from './store.js';

/** Which client it is, among those that show the same credentials. */
export type Whose = Holder & {readonly place: string};

/** How long it is remembered which session a client used last. */
const KEPT_MS = 24 * 3600 * 1000;
/** How often it is written down anew while it stays the same. */
const NOTED_MS = 5000;
/** Clients of which it is known what was written down. The oldest is forgotten for the next. */
const MAX_NOTED = 10_000;

/** The sessions that clients used last, for those that do not say which one they mean, at whatever replica they ask. */
export class LastSessions {
	readonly #store: Store;
	readonly #noted = new BoundedMap<string, {readonly id: string; readonly until: number}>(MAX_NOTED);

	constructor(store: Store) {
		this.#store = store;
	}

	/** A client has used the session that it knows by this id. Nobody waits for that to be written. */
	note(whose: Whose, id: string): void {
		const client = shortKey(clientOf(whose));
		const noted = this.#noted.get(client);
		const now = performance.now();
		const known = shortKey(id);
		if (noted?.id === known && now < noted.until) return;
		this.#noted.set(client, {id: known, until: now + NOTED_MS});
		const [key = ''] = this.#keysOf(whose);
		void this.#store.ask(redis => redis.set(key, this.#store.seal(id, key), 'PX', KEPT_MS));
	}

	/** The id of the session that a client used last; undefined when that is not known. */
	async find(whose: Whose): Promise<string | undefined> {
		for (const key of this.#keysOf(whose)) {
			const id = await this.#read(key);
			if (id !== undefined) return id;
		}
		return;
	}

	/** A client has ended a session. */
	async forget(whose: Whose, id: string): Promise<void> {
		this.#noted.delete(shortKey(clientOf(whose)));
		for (const key of this.#keysOf(whose))
			if ((await this.#read(key)) === id) await this.#store.ask(redis => redis.del(key));
	}

	async #read(key: string): Promise<string | undefined> {
		const sealed = await this.#store.ask(redis => redis.get(key));
		return sealed ? this.#store.unseal(sealed, key) : undefined;
	}

	#keysOf({service, principal, place}: Whose): readonly string[] {
		return this.#store.names('last', service, principal, place).map(name => this.#store.key('last', name));
	}
}

const clientOf = ({service, principal, place}: Whose): string => `${service} ${principal} ${place}`;
