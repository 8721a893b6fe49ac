import type {Log} from '../../core/log.js';
import {type ToolList, ToolListError, toolListResult} from '../../protocol/tool-list.js';
import {RateLimiter} from '../../util/rate-limiter.js';
import type {ToolListStore} from './tool-list-store.js';

/** One conversation with the server that a list is shared between. */
export type ToolListConsumer = {
	/** Asks the server for the whole list, and calls `done` once, unless the member leaves before. */
	fetch(maxBytes: number, done: (outcome: ToolList | ToolListError) => void): void;
	/** This is the revision of the list now: the client is told, unless it has been told of this one. */
	onRevision(revision: number): void;
	/** Whoever waits gets this result, or asks the server if there is none. Returns whether anybody did wait. */
	resolvePending(result: string | undefined): boolean;
};

/** What becomes of a request: it has its result, waits for `settled`, or is passed on to the server. */
type ToolListRead = {readonly result: string} | 'wait' | 'pass on';

export type SharedToolListOptions = {
	/** The server's name, for people. */
	readonly upstream: string;
	readonly log: Log;
	/** A list over this is not kept. */
	readonly maxBytes: number;
	/** A clock that is never set, in milliseconds. */
	readonly now: () => number;
	/** Where others keep the same list, too. */
	readonly store?: ToolListStore | undefined;
};

/** How often a server is asked because it said so, in how much time. One that says so whenever it is asked never ends. */
const MAX_REFRESHES = 10;
const WINDOW_MS = 10_000;
/** Tools whose change is told one by one; of the others, how many there are. */
const MAX_LOGGED_TOOLS = 20;

/**
 * The list of a server's tools, for all conversations that share it: one request for all, and every client told.
 *
 * It is fresh until the server says that it changed, until its own `ttlMs` is over, or until nobody is left who would hear
 * of a change. It is fetched anew then, and whoever asks meanwhile waits for that. When that fails, a list from before
 * is given once more, with a warning; the next one who asks gets the server's own error, if it still has one.
 */
export class SharedToolList {
	readonly #options: SharedToolListOptions;
	readonly #consumers = new Set<ToolListConsumer>();
	#list: ToolList | undefined;
	#isFresh = false;
	#receivedAt = 0;
	/** Another one whenever the tools are others. */
	#revision = 0;
	/** Another one whenever the server says that they may be: what was asked for before then is not kept. */
	#generation = 0;
	#pendingFetch: {readonly by: ToolListConsumer; readonly generation: number} | undefined;
	/** Who heard last of a change. */
	#lastNotified: ToolListConsumer | undefined;
	/** How often the server is asked because it said that its tools changed. */
	readonly #refreshLimiter: RateLimiter;
	/** Has it asked when it may be again. */
	#refreshTimer: NodeJS.Timeout | undefined;
	#hasFailed = false;
	#hasServedStale = false;
	/** Whether the list is too large to be kept, and nothing is done here any more. */
	#isDisabled = false;

	constructor(options: SharedToolListOptions) {
		this.#options = options;
		this.#refreshLimiter = new RateLimiter(MAX_REFRESHES, WINDOW_MS, options.now);
		options.store?.onUpdate(fingerprint => this.#onStoredList(fingerprint));
	}

	/** How many tools there are, as far as is known. */
	get count(): number | undefined {
		return this.#list?.count;
	}

	/** Takes a conversation in whose handshake is complete. */
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

	/** The server told this member that its tools changed. Returns whether that is taken care of. */
	invalidate(consumer: ToolListConsumer): boolean {
		if (this.#isDisabled) return false;
		this.#generation++;
		this.#isFresh = false;
		this.#lastNotified = consumer;
		if (!this.#pendingFetch) this.#refreshAgain();
		return true;
	}

	/** Somebody else has a list with this fingerprint. If it is another one, the server is asked here, too. */
	#onStoredList(fingerprint: string): void {
		if (this.#isDisabled || !this.#list || this.#list.fingerprint === fingerprint) return;
		this.#generation++;
		this.#isFresh = false;
		if (!this.#pendingFetch) this.#refreshAgain();
	}

	/** Asks for the list in the name of a client. */
	read(consumer: ToolListConsumer): ToolListRead {
		if (this.#isDisabled) return 'pass on';
		if (this.#isUsable && this.#list) return {result: this.#resultOf(this.#list)};
		const canWait = !this.#hasFailed || this.#list !== undefined || this.#pendingFetch !== undefined;
		this.#refresh(consumer);
		// A server that has not been able to list its tools so far is not waited for twice.
		return canWait ? 'wait' : 'pass on';
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
		// The tools changed since they were asked for, so nobody can tell whether this is from before or after.
		if (!this.#refreshAgain())
			this.#handleFailure(new ToolListError('changes them faster than it lists them'));
	}

	/** Has the server asked by who heard of the change, now or when it may be. Returns whether that is now. */
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
		const sentence = `${server} said more than ${MAX_REFRESHES} times in ${WINDOW_MS / 1000} s that its tools changed; it is asked for them later, or when a client asks.`;
		log.warn('tools.restless', sentence, {server});
		this.#refreshTimer = setTimeout(() => {
			this.#refreshTimer = undefined;
			if (!this.#isFresh && !this.#pendingFetch) this.#refreshAgain();
		}, this.#refreshLimiter.retryAfterMs).unref();
		return false;
	}

	#publishRevision(revision: number): void {
		this.#revision = revision;
		for (const member of [...this.#consumers]) member.onRevision(revision);
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
		for (const member of [...this.#consumers]) member.resolvePending(this.#resultOf(list));
	}

	/** A tool that is no longer what it was may not be what somebody has agreed to. */
	#logChanges(previous: ToolList, current: ToolList): void {
		const {log, upstream: server} = this.#options;
		const changes = [...current.hashes].filter(
			([tool, hash]) => (previous.hashes.get(tool) ?? hash) !== hash,
		);
		for (const [tool, hash] of changes.slice(0, MAX_LOGGED_TOOLS))
			log.warn('tools.changed', `${server} changed its tool ${tool}: its description, its schema, or both.`, {
				server,
				tool,
				hash_old: previous.hashes.get(tool),
				hash_new: hash,
			});
		const rest = changes.length - MAX_LOGGED_TOOLS;
		if (rest > 0) log.warn('tools.changed', `${server} changed ${rest} more of its tools.`, {server, rest});
	}

	#handleFailure({message, isTooLarge}: ToolListError): void {
		const {log, upstream: server} = this.#options;
		const list = this.#list;
		this.#hasFailed = true;
		if (isTooLarge) {
			this.#isDisabled = true;
			this.#list = undefined;
			log.warn('tools.too_large', `${server} ${message}; it is not cached.`, {server});
			// It is not what it was, whatever it is.
			if (list) this.#publishRevision(this.#revision + 1);
		} else if (list)
			log.warn('tools.stale', `${server} was asked for its tools and ${message}; they may have changed.`, {
				server,
				tools: list.count,
			});
		else
			log.warn('tools.uncached', `${server} was asked for its tools and ${message}; they are not cached.`, {
				server,
			});
		const result = list && !isTooLarge && !this.#hasServedStale ? this.#resultOf(list) : undefined;
		const served = [...this.#consumers].filter(member => member.resolvePending(result));
		if (served.length > 0 && result !== undefined) this.#hasServedStale = true;
	}
}
