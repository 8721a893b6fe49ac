import type {Log} from '../../core/log.js';
import {type ToolList, ToolListError, toolListResult} from '../../protocol/tool-list.js';
import {RateLimiter} from '../../util/rate-limiter.js';
import type {ToolListStore} from './tool-list-store.js';

export type ToolListConsumer = {
	/** Requests the whole list and calls `done` once, unless the consumer leaves before. */
	fetch(maxBytes: number, done: (outcome: ToolList | ToolListError) => void): void;
	/** Notifies the client of this revision, unless it was notified already. */
	onRevision(revision: number): void;
	/**
	 * Resolves queued requests with the result, or forwards them if undefined. Returns whether any were queued.
	 */
	resolvePending(result: string | undefined): boolean;
};

/** Outcome of a read: the result, a wait for `resolvePending`, or a request to forward to the upstream. */
type ToolListRead = {readonly result: string} | 'wait' | 'forward';

export type SharedToolListOptions = {
	readonly upstream: string;
	readonly log: Log;
	/** A larger list is not cached. */
	readonly maxBytes: number;
	/** A monotonic clock, in milliseconds. */
	readonly now: () => number;
	/** The store that shares the list with other replicas. */
	readonly store?: ToolListStore | undefined;
};

/** Limit on fetches after list_changed, for upstreams that report a change on every fetch. */
const MAX_REFRESHES = 10;
const WINDOW_MS = 10_000;
/** Changed tools that are logged by name. The others are counted. */
const MAX_LOGGED_TOOLS = 20;

/**
 * The tool list of an upstream, shared by several conversations: one fetch for all, and every client is
 * notified.
 *
 * The list is fresh until a list_changed notification, until its `ttlMs` has passed, or until the last
 * consumer leaves. Then it is fetched again, and requests wait for the fetch. If the fetch fails, the stale
 * list is returned once, with a warning. The next request is forwarded, so that the client sees the error of
 * the upstream.
 */
export class SharedToolList {
	readonly #options: SharedToolListOptions;
	readonly #consumers = new Set<ToolListConsumer>();
	#list: ToolList | undefined;
	#isFresh = false;
	#receivedAt = 0;
	/** Incremented whenever the tools differ. */
	#revision = 0;
	/** Incremented on every list_changed. The result of an earlier fetch is discarded. */
	#generation = 0;
	#pendingFetch: {readonly by: ToolListConsumer; readonly generation: number} | undefined;
	/** The consumer that received the last list_changed. */
	#lastNotified: ToolListConsumer | undefined;
	readonly #refreshLimiter: RateLimiter;
	/** Runs when the limiter admits the next fetch. */
	#refreshTimer: NodeJS.Timeout | undefined;
	#hasFailed = false;
	#hasServedStale = false;
	/** Whether the list is too large, so that all requests are forwarded. */
	#isDisabled = false;

	constructor(options: SharedToolListOptions) {
		this.#options = options;
		this.#refreshLimiter = new RateLimiter(MAX_REFRESHES, WINDOW_MS, options.now);
		options.store?.onUpdate(fingerprint => this.#onStoredList(fingerprint));
	}

	get count(): number | undefined {
		return this.#list?.count;
	}

	/** Adds a conversation whose handshake is complete. */
	join(consumer: ToolListConsumer): void {
		this.#consumers.add(consumer);
		if (this.#isUsable) consumer.onRevision(this.#revision);
		else this.#refresh(consumer);
	}

	leave(consumer: ToolListConsumer): void {
		if (!this.#consumers.delete(consumer)) return;
		const [remaining] = this.#consumers;
		if (this.#lastNotified === consumer) this.#lastNotified = undefined;
		if (this.#pendingFetch?.by === consumer) this.#pendingFetch = undefined;
		else if (remaining) return;
		if (remaining) {
			this.#refresh(remaining);
			return;
		}
		this.#isFresh = false;
		this.#isDisabled = false;
		this.#refreshTimer = void clearTimeout(this.#refreshTimer);
	}

	/** Handles list_changed from this consumer's upstream. Returns false if the caller has to forward it. */
	invalidate(consumer: ToolListConsumer): boolean {
		if (this.#isDisabled) return false;
		this.#generation++;
		this.#isFresh = false;
		this.#lastNotified = consumer;
		if (!this.#pendingFetch) this.#refreshAgain();
		return true;
	}

	#onStoredList(fingerprint: string): void {
		if (this.#isDisabled || !this.#list || this.#list.fingerprint === fingerprint) return;
		this.#generation++;
		this.#isFresh = false;
		if (!this.#pendingFetch) this.#refreshAgain();
	}

	/** Reads the list for a client request, and starts a fetch if it is stale. */
	read(consumer: ToolListConsumer): ToolListRead {
		if (this.#isDisabled) return 'forward';
		if (this.#isUsable && this.#list) return {result: this.#resultOf(this.#list)};
		const canWait = !this.#hasFailed || this.#list !== undefined || this.#pendingFetch !== undefined;
		this.#refresh(consumer);
		// After a failed first fetch, requests are forwarded instead of queued.
		return canWait ? 'wait' : 'forward';
	}

	get #isUsable(): boolean {
		return this.#isFresh && this.#list !== undefined && (this.#remainingMs(this.#list) ?? 1) > 0;
	}

	#remainingMs({ttlMs}: ToolList): number | undefined {
		return ttlMs === undefined ? undefined : this.#receivedAt + ttlMs - this.#options.now();
	}

	#resultOf(list: ToolList): string {
		return toolListResult(list, this.#remainingMs(list));
	}

	#refresh(consumer: ToolListConsumer): void {
		if (this.#pendingFetch) return;
		const pendingFetch = {by: consumer, generation: this.#generation};
		this.#pendingFetch = pendingFetch;
		const finish = (outcome: ToolList | ToolListError): void => {
			if (this.#pendingFetch !== pendingFetch) return;
			this.#pendingFetch = undefined;
			this.#finishFetch(outcome, pendingFetch.generation);
		};
		const {store, maxBytes} = this.#options;
		const fetch = (): void => consumer.fetch(maxBytes, finish);
		if (!store || this.#list) fetch();
		else
			void store.read().then(list => {
				if (list) finish(list);
				else if (this.#pendingFetch === pendingFetch) fetch();
			});
	}

	#finishFetch(outcome: ToolList | ToolListError, generation: number): void {
		if (generation === this.#generation) {
			if (outcome instanceof ToolListError) this.#handleFailure(outcome);
			else this.#cacheList(outcome);
			return;
		}
		// The tools changed during the fetch, so the result may be outdated.
		if (!this.#refreshAgain())
			this.#handleFailure(new ToolListError('changes its tools faster than it lists them'));
	}

	/** Fetches through the last notified consumer, now or when the limit allows. Returns whether it is now. */
	#refreshAgain(): boolean {
		const [firstConsumer] = this.#consumers;
		const consumer = this.#lastNotified ?? firstConsumer;
		if (!consumer) return false;
		if (this.#refreshLimiter.tryAcquire()) {
			this.#refresh(consumer);
			return true;
		}
		if (this.#refreshTimer) return false;
		const {log, upstream: server} = this.#options;
		const message = `${server} reported more than ${MAX_REFRESHES} tool changes in ${WINDOW_MS / 1000} s; the next fetch is delayed.`;
		log.warn('tools.restless', message, {server});
		this.#refreshTimer = setTimeout(() => {
			this.#refreshTimer = undefined;
			if (!this.#isFresh && !this.#pendingFetch) this.#refreshAgain();
		}, this.#refreshLimiter.retryAfterMs).unref();
		return false;
	}

	#publishRevision(revision: number): void {
		this.#revision = revision;
		for (const consumer of [...this.#consumers]) consumer.onRevision(revision);
	}

	#cacheList(list: ToolList): void {
		const {now} = this.#options;
		const previous = this.#list;
		const isDifferent = previous?.fingerprint !== list.fingerprint;
		if (previous) this.#logChanges(previous, list);
		if (isDifferent) this.#options.store?.write(list);
		this.#list = list;
		this.#isFresh = true;
		this.#receivedAt = now();
		this.#hasFailed = false;
		this.#hasServedStale = false;
		this.#publishRevision(this.#revision + (isDifferent ? 1 : 0));
		for (const consumer of [...this.#consumers]) consumer.resolvePending(this.#resultOf(list));
	}

	/** Warns about changed tools, because users approved the previous description and schema. */
	#logChanges(previous: ToolList, current: ToolList): void {
		const {log, upstream: server} = this.#options;
		const changes = [...current.hashes].filter(
			([tool, hash]) => (previous.hashes.get(tool) ?? hash) !== hash,
		);
		for (const [tool, hash] of changes.slice(0, MAX_LOGGED_TOOLS))
			log.warn('tools.changed', `${server} changed the description or schema of its tool ${tool}.`, {
				server,
				tool,
				hash_old: previous.hashes.get(tool),
				hash_new: hash,
			});
		const rest = changes.length - MAX_LOGGED_TOOLS;
		if (rest > 0) log.warn('tools.changed', `${server} changed ${rest} more tools.`, {server, rest});
	}

	#handleFailure({message, isTooLarge}: ToolListError): void {
		const {log, upstream: server} = this.#options;
		const list = this.#list;
		this.#hasFailed = true;
		if (isTooLarge) {
			this.#isDisabled = true;
			this.#list = undefined;
			log.warn('tools.too_large', `${server} ${message}; it is not cached.`, {server});
			// A list over the limit differs from the cached one.
			if (list) this.#publishRevision(this.#revision + 1);
		} else if (list)
			log.warn(
				'tools.stale',
				`Listing the tools of ${server} failed: it ${message}. The cached list may be outdated.`,
				{
					server,
					tools: list.count,
				},
			);
		else
			log.warn(
				'tools.uncached',
				`Listing the tools of ${server} failed: it ${message}. They are not cached.`,
				{
					server,
				},
			);
		const result = list && !isTooLarge && !this.#hasServedStale ? this.#resultOf(list) : undefined;
		const served = [...this.#consumers].filter(consumer => consumer.resolvePending(result));
		if (served.length > 0 && result !== undefined) this.#hasServedStale = true;
	}
}
