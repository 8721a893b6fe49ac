import type {Owners} from './owners.js';
import {isAwaited, type Kind, SharedStream, type Told, tellMoved} from './shared-stream.js';
import type {Store} from './store.js';

/** How often a stream of another replica is looked at in which nothing happens. */
const LOOK_MS = 1000;

export type Event = {readonly place: number; readonly data: Buffer};

/** What is known of a stream behind a place in it. */
export type Tale = {
	/** What was told last of what it is there for; undefined if nothing is known of it. */
	readonly told: Told | undefined;
	readonly events: readonly Event[];
	/** Whether none of them is gone. */
	readonly isWhole: boolean;
	/** Behind which place nothing comes any more. */
	readonly end: number | undefined;
	/** Whether the replica that answers has said lately that there is more to come. */
	readonly isAwaited: boolean;
};

type Entry = [id: string, fields: string[]];

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

	/** A stream begins. */
	begin(stream: number, kind: Kind): SharedStream {
		return new SharedStream({...this.#options, ...kind, name: this.#nameOf(stream)});
	}

	/** What has become of a stream since a place in it; undefined if the store cannot be asked. */
	async since(stream: number, place: number): Promise<Tale | undefined> {
		const key = this.#store.key('events', this.#nameOf(stream));
		const rest = await this.#store.ask(redis => redis.xrange(key, `${place}-2`, '+'));
		const oldest = rest?.length === 0 && this.#store.ask(redis => redis.xrange(key, '-', '+', 'COUNT', 1));
		const [known, keptMs] = await Promise.all([oldest || rest, this.#store.ask(redis => redis.pttl(key))]);
		if (!rest || !known || keptMs === undefined) return;
		const events = rest.flatMap((entry): Event[] => {
			const data = entry[1][0] === 'data' ? this.#read(key, entry)?.data : undefined;
			return data === undefined ? [] : [{place: placeOf(entry), data: Buffer.from(data)}];
		});
		const last = rest.find(([, [field]]) => field === 'end');
		const end = last && placeOf(last);
		const isWhole =
			events.every((event, at) => event.place === place + 1 + at) &&
			(end === undefined || place + events.length >= end);
		return {told: this.#read(key, known.at(-1))?.told, events, isWhole, end, isAwaited: isAwaited(keptMs)};
	}

	#read(key: string, entry: Entry | undefined): {readonly told: Told; readonly data: string} | undefined {
		const [id, [, sealed = ''] = []] = entry ?? ['', []];
		const text = this.#store.unseal(sealed, `${key} ${id}`);
		if (text === undefined) return;
		const at = text.indexOf('\n');
		return {told: JSON.parse(text.slice(0, at)) as Told, data: text.slice(at + 1)};
	}

	/** Whether nothing can come any more, since the replica is gone that it would come from. */
	isAbandoned({by}: Told): Promise<boolean> {
		return this.#options.owners.isGone(by);
	}

	/** The client has come here for a stream that goes on wherever it listens. */
	moved(stream: number): void {
		tellMoved(this.#store, this.#nameOf(stream));
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

const placeOf = ([id]: Entry): number => Number(id.split('-')[0]);
