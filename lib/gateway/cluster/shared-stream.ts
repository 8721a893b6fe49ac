import type {
	ReplicatedStream,
	StreamMetadata,
	StreamPurpose,
} from '../../transports/http-server/replicated-streams.js';
import type {Leases} from './leases.js';
import type {SharedStore} from './shared-store.js';

/** How long events are kept for a client to come back to, and how many of one stream. */
const RETENTION_MS = 10 * 60_000;
const MAX_SHARED_EVENTS = 1000;
/** What is longer is not kept. */
const MAX_SHARED_BYTES = 4 * 2 ** 20;
/** How often a replica says that an answer is still to come, and how soon it is taken not to when it does not. */
const PENDING_REFRESH_MS = 5000;
const PENDING_STALE_MS = 3 * PENDING_REFRESH_MS;

type SharedStreamOptions = StreamPurpose & {
	readonly store: SharedStore;
	readonly leases: Leases;
	/** Which replica this is. */
	readonly instance: string;
	/** Of the stream, in the store. */
	readonly name: string;
};

/** What is told of a stream that a client has come for elsewhere. Of all else, the place is told. */
const MOVED = 'moved';

/** Tells the replica that a stream began at that its client is elsewhere now. */
export const publishMoved = (store: SharedStore, name: string): void => store.publish(name, MOVED);

/** Whether an answer is still to come, by how long what there is of it will be kept. */
export const isResponsePending = (ttlMs: number): boolean => ttlMs > RETENTION_MS - PENDING_STALE_MS;

/** A stream of events that other replicas can go on with. */
export class SharedStream implements ReplicatedStream {
	readonly #options: SharedStreamOptions;
	readonly #store: SharedStore;
	readonly #key: string;
	readonly #timer: NodeJS.Timeout | undefined;

	constructor(options: SharedStreamOptions) {
		const {store, name, about} = options;
		this.#options = options;
		this.#store = store;
		this.#key = store.key('events', name);
		this.#begin();
		if (about !== undefined)
			this.#timer = setInterval(() => void this.#refreshExpiry(), PENDING_REFRESH_MS).unref();
	}

	add(sequence: number, data: Buffer): void {
		if (data.length <= MAX_SHARED_BYTES) this.#append(`${sequence}-1`, 'data', data.toString());
	}

	/** Has this done when the client has come for the stream elsewhere, until what it returns is called. */
	onMoved(callback: () => void): () => void {
		return this.#store.subscribe(this.#options.name, message => {
			if (message === MOVED) callback();
		});
	}

	/** Nothing comes behind this place. */
	end(sequence: number): void {
		clearInterval(this.#timer);
		this.#append(`${sequence}-2`, 'end', '');
	}

	#begin(): void {
		this.#append('0-1', 'begin', '');
	}

	/** What is said of an answer is kept until it is there. A store that has lost it, as when it was restarted, is told anew. */
	async #refreshExpiry(): Promise<void> {
		const exists = await this.#store.run(redis => redis.pexpire(this.#key, RETENTION_MS));
		if (exists === 0) this.#begin();
	}

	#append(id: string, field: string, data: string): void {
		const {leases, instance, name, about, upstream} = this.#options;
		const resumePoint = upstream && {upstream: {heard: upstream.heard}};
		const metadata: StreamMetadata = {about, ...resumePoint, by: {instance, term: leases.term}};
		const key = this.#key;
		const sealed = this.#store.seal(`${JSON.stringify(metadata)}\n${data}`, `${key} ${id}`);
		void this.#store.run(redis => redis.xadd(key, 'MAXLEN', '~', MAX_SHARED_EVENTS, id, field, sealed));
		void this.#store.run(redis => redis.pexpire(key, RETENTION_MS));
		this.#store.publish(name, id);
	}
}
