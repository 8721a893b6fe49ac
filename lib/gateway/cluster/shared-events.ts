import type {
	ReplicatedStreams,
	SharedEvent,
	StreamMetadata,
	StreamPurpose,
	StreamSnapshot,
} from '../../transports/http-server/replicated-streams.js';
import type {Leases} from './leases.js';
import type {SharedStore} from './shared-store.js';
import {isResponsePending, publishMoved, SharedStream} from './shared-stream.js';

/** The interval at which an inactive stream of another replica is polled. */
const POLL_INTERVAL_MS = 1000;

type Entry = [id: string, fields: string[]];

type SharedEventsOptions = {
	readonly store: SharedStore;
	readonly leases: Leases;
	readonly session: string;
	readonly instance: string;
};

/** The events of one session in the store, where all replicas can read them. */
export class SharedEvents implements ReplicatedStreams {
	readonly #store: SharedStore;
	readonly #options: SharedEventsOptions;

	constructor(options: SharedEventsOptions) {
		this.#store = options.store;
		this.#options = options;
	}

	#nameOf(stream: number): string {
		return this.#store.hashedName('events', this.#options.session, String(stream));
	}

	begin(stream: number, purpose: StreamPurpose): SharedStream {
		return new SharedStream({...this.#options, ...purpose, name: this.#nameOf(stream)});
	}

	/** Returns the state of a stream after an event; undefined while the store is unreachable. */
	async readAfter(stream: number, sequence: number): Promise<StreamSnapshot | undefined> {
		const key = this.#store.key('events', this.#nameOf(stream));
		const rest = await this.#store.run(redis => redis.xrange(key, `${sequence}-2`, '+'));
		const oldest = rest?.length === 0 && this.#store.run(redis => redis.xrange(key, '-', '+', 'COUNT', 1));
		const [latest, ttlMs] = await Promise.all([oldest || rest, this.#store.run(redis => redis.pttl(key))]);
		if (!rest || !latest || ttlMs === undefined) return;
		const events = rest.flatMap((entry): SharedEvent[] => {
			const data = entry[1][0] === 'data' ? this.#read(key, entry)?.data : undefined;
			return data === undefined ? [] : [{sequence: sequenceOf(entry), data: Buffer.from(data)}];
		});
		const last = rest.find(([, [field]]) => field === 'end');
		const end = last && sequenceOf(last);
		const isComplete =
			events.every((event, at) => event.sequence === sequence + 1 + at) &&
			(end === undefined || sequence + events.length >= end);
		return {
			metadata: this.#read(key, latest.at(-1))?.metadata,
			events,
			isComplete,
			end,
			isPending: isResponsePending(ttlMs),
		};
	}

	#read(
		key: string,
		entry: Entry | undefined,
	): {readonly metadata: StreamMetadata; readonly data: string} | undefined {
		const [id, [, sealed = ''] = []] = entry ?? ['', []];
		const text = this.#store.unseal(sealed, `${key} ${id}`);
		if (text === undefined) return;
		const at = text.indexOf('\n');
		return {metadata: JSON.parse(text.slice(0, at)) as StreamMetadata, data: text.slice(at + 1)};
	}

	/** Whether the replica that writes the stream has lost its lease, so that no event can follow. */
	isOrphaned({by}: StreamMetadata): Promise<boolean> {
		return this.#options.leases.isLost(by);
	}

	/** Notifies the replica where a stream began that its client has resumed it here. */
	announceMoved(stream: number): void {
		publishMoved(this.#store, this.#nameOf(stream));
	}

	/** Calls back when a stream may have changed, until the returned function is called. */
	watch(stream: number, onChange: () => void): () => void {
		const stop = this.#store.subscribe(this.#nameOf(stream), onChange);
		const timer = setInterval(onChange, POLL_INTERVAL_MS).unref();
		return () => {
			clearInterval(timer);
			stop();
		};
	}
}

const sequenceOf = ([id]: Entry): number => Number(id.split('-')[0]);
