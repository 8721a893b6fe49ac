import type {
	ReplicatedStream,
	StreamMetadata,
	StreamPurpose,
} from '../../transports/http-server/replicated-streams.js';
import type {Leases} from './leases.js';
import type {SharedStore} from './shared-store.js';

const RETENTION_MS = 10 * 60_000;
const MAX_SHARED_EVENTS = 1000;
const MAX_SHARED_BYTES = 4 * 2 ** 20;
/**
 * The interval at which a replica confirms that a response is pending, and how long it counts as pending
 * without that.
 */
const PENDING_REFRESH_MS = 5000;
const PENDING_STALE_MS = 3 * PENDING_REFRESH_MS;

type SharedStreamOptions = StreamPurpose & {
	readonly store: SharedStore;
	readonly leases: Leases;
	readonly instance: string;
	readonly name: string;
};

/**
 * The message for a stream that its client has resumed at another replica. All other messages are event ids.
 */
const MOVED = 'moved';

/** Notifies the replica where a stream began that its client has resumed it at another replica. */
export const publishMoved = (store: SharedStore, name: string): void => store.publish(name, MOVED);

/** Whether a response is pending, by the remaining lifetime of its stream: it is reset at intervals. */
export const isResponsePending = (ttlMs: number): boolean => ttlMs > RETENTION_MS - PENDING_STALE_MS;

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

	/**
	 * Calls back when the client resumes the stream at another replica, until the returned function is called.
	 */
	onMoved(callback: () => void): () => void {
		return this.#store.subscribe(this.#options.name, message => {
			if (message === MOVED) callback();
		});
	}

	/** Marks the event with this sequence number as the last one. */
	end(sequence: number): void {
		clearInterval(this.#timer);
		this.#append(`${sequence}-2`, 'end', '');
	}

	#begin(): void {
		this.#append('0-1', 'begin', '');
	}

	/**
	 * Keeps the stream of a pending response from expiring. If a restarted store has lost it, it begins again.
	 */
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
