import type {Owners, Tenant} from './owners.js';
import type {Store} from './store.js';

/** How long events are kept for a client to come back to, and how many of one stream. */
const KEPT_MS = 10 * 60_000;
const MAX_EVENTS = 1000;
/** What is longer is not kept. */
const MAX_BYTES = 4 * 2 ** 20;
/** How often a replica says that an answer is still to come, and how soon it is taken not to when it does not. */
const AWAITED_MS = 5000;
const STALE_MS = 3 * AWAITED_MS;

/** What a stream is there for. */
export type Kind = {
	/** The id of the request that it answers, as text; none for what a server says of its own accord. */
	readonly about?: string | undefined;
	/** The last event that was heard on the server's own stream, if that is where this comes from. */
	readonly upstream?: {readonly heard: string | undefined} | undefined;
};

/** What is told with each event: the oldest are not kept for ever. */
export type Told = Kind & {readonly by: Tenant};

export type SharedStreamOptions = Kind & {
	readonly store: Store;
	readonly owners: Owners;
	/** Which replica this is. */
	readonly instance: string;
	/** Of the stream, in the store. */
	readonly name: string;
};

/** What is told of a stream that a client has come for elsewhere. Of all else, the place is told. */
const MOVED = 'moved';

/** Tells the replica that a stream began at that its client is elsewhere now. */
export const tellMoved = (store: Store, name: string): void => store.tell(name, MOVED);

/** Whether an answer is still to come, by how long what there is of it will be kept. */
export const isAwaited = (keptMs: number): boolean => keptMs > KEPT_MS - STALE_MS;

/** A stream of events that other replicas can go on with. */
export class SharedStream {
	readonly #options: SharedStreamOptions;
	readonly #store: Store;
	readonly #key: string;
	readonly #timer: NodeJS.Timeout | undefined;

	constructor(options: SharedStreamOptions) {
		const {store, name, about} = options;
		this.#options = options;
		this.#store = store;
		this.#key = store.key('events', name);
		this.#begin();
		if (about !== undefined) this.#timer = setInterval(() => void this.#keep(), AWAITED_MS).unref();
	}

	add(place: number, data: Buffer): void {
		if (data.length <= MAX_BYTES) this.#add(`${place}-1`, 'data', data.toString());
	}

	/** Has this done when the client has come for the stream elsewhere, until what it returns is called. */
	whenMoved(proceed: () => void): () => void {
		return this.#store.listen(this.#options.name, what => {
			if (what === MOVED) proceed();
		});
	}

	/** Nothing comes behind this place. */
	end(place: number): void {
		clearInterval(this.#timer);
		this.#add(`${place}-2`, 'end', '');
	}

	#begin(): void {
		this.#add('0-1', 'begin', '');
	}

	/** What is said of an answer is kept until it is there. A store that has lost it, as when it was restarted, is told anew. */
	async #keep(): Promise<void> {
		const isThere = await this.#store.ask(redis => redis.pexpire(this.#key, KEPT_MS));
		if (isThere === 0) this.#begin();
	}

	#add(id: string, field: string, data: string): void {
		const {owners, instance, name, about, upstream} = this.#options;
		const heard = upstream && {upstream: {heard: upstream.heard}};
		const told: Told = {about, ...heard, by: {instance, term: owners.term}};
		const key = this.#key;
		const sealed = this.#store.seal(`${JSON.stringify(told)}\n${data}`, `${key} ${id}`);
		void this.#store.ask(redis => redis.xadd(key, 'MAXLEN', '~', MAX_EVENTS, id, field, sealed));
		void this.#store.ask(redis => redis.pexpire(key, KEPT_MS));
		this.#store.tell(name, id);
	}
}
