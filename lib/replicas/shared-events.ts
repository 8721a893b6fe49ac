import type {Owners, Tenant} from './owners.js';
import type {Store} from './store.js';

/** How long events are kept for a client to come back to, and how many of one stream. */
const KEPT_MS = 10 * 60_000;
const MAX_EVENTS = 1000;
/** What is longer is not kept. */
const MAX_BYTES = 4 * 2 ** 20;
/** How often a stream of another replica is looked at in which nothing happens. */
const LOOK_MS = 1000;

/** What a stream is there for. */
export type Kind = {
	/** The id of the request that it answers, as text; none for what a server says of its own accord. */
	readonly about?: string | undefined;
};

type Told = Kind & {readonly by: Tenant};

export type Event = {readonly place: number; readonly data: Buffer};

/** What is known of a stream: its events behind a place, whether none of them is gone, and whether more are to come. */
export type Tale = Told & {
	readonly events: readonly Event[];
	readonly isWhole: boolean;
	readonly isOver: boolean;
};

export type SharedEventsOptions = {
	readonly store: Store;
	readonly owners: Owners;
	/** The id of the session among replicas. */
	readonly session: string;
	/** Which replica this is. */
	readonly instance: string;
};

/** The events of one session, kept where all replicas find them. */
export class SharedEvents {
	readonly #store: Store;
	readonly #options: SharedEventsOptions;

	constructor(options: SharedEventsOptions) {
		this.#store = options.store;
		this.#options = options;
	}

	#nameOf(stream: number): string {
		return this.#store.nameOfRandom('events', this.#options.session, String(stream));
	}

	#add(stream: number, id: string, field: string, value: string): void {
		const name = this.#nameOf(stream);
		const key = this.#store.key('events', name);
		const sealed = this.#store.seal(value, `${key} ${id}`);
		void this.#store.ask(redis => redis.xadd(key, 'MAXLEN', '~', MAX_EVENTS, id, field, sealed));
		void this.#store.ask(redis => redis.pexpire(key, KEPT_MS));
		this.#store.tell(name, id);
	}

	/** A stream begins. */
	begun(stream: number, {about}: Kind): void {
		const {instance, owners} = this.#options;
		const told: Told = {about, by: {instance, term: owners.term}};
		this.#add(stream, '0-1', 'kind', JSON.stringify(told));
	}

	add(stream: number, place: number, data: Buffer): void {
		if (data.length <= MAX_BYTES) this.#add(stream, `${place}-1`, 'data', data.toString());
	}

	/** Nothing comes behind this place. */
	ended(stream: number, place: number): void {
		this.#add(stream, `${place}-2`, 'end', '');
	}

	/** What has become of a stream since a place in it; undefined if nothing is known of it. */
	async since(stream: number, place: number): Promise<Tale | undefined> {
		const key = this.#store.key('events', this.#nameOf(stream));
		const first = await this.#store.ask(redis => redis.xrange(key, '0-1', '0-1'));
		const rest = await this.#store.ask(redis => redis.xrange(key, `${Math.max(place, 0)}-2`, '+'));
		const kind = first && this.#read(key, first[0]);
		if (kind === undefined || !rest) return;
		const events = rest.flatMap(entry => {
			const text = entry[1][0] === 'data' ? this.#read(key, entry) : undefined;
			return text === undefined ? [] : [{place: Number(entry[0].split('-')[0]), data: Buffer.from(text)}];
		});
		const isWhole = events.every((event, at) => event.place === place + 1 + at);
		const isOver = rest.some(([, [field]]) => field === 'end');
		return {...(JSON.parse(kind) as Told), events, isWhole, isOver};
	}

	#read(key: string, entry: [id: string, fields: string[]] | undefined): string | undefined {
		const [id, [, sealed = ''] = []] = entry ?? ['', []];
		return this.#store.unseal(sealed, `${key} ${id}`);
	}

	/** Whether nothing can come any more, since the replica is gone that it would come from. */
	isAbandoned({by}: Tale): Promise<boolean> {
		return this.#options.owners.isGone(by);
	}

	/** Tells whenever something may have become of a stream, until what it returns is called. */
	watch(stream: number, changed: () => void): () => void {
		const stop = this.#store.listen(this.#nameOf(stream), changed);
		const timer = setInterval(changed, LOOK_MS).unref();
		return () => {
			clearInterval(timer);
			stop();
		};
	}
}
