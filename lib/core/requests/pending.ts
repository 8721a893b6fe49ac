import {randomUUID} from 'node:crypto';
import {performance} from 'node:perf_hooks';
import {BoundedStringMap} from '../../util/bounded-string-map.js';
import {canonicalId, exactId, isCommonId} from '../../wire/id.js';
import type {Envelope, MessageOrigin} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {SlotMap} from '../fast/slot-map.js';
import {MAX_IDENTIFIER_LENGTH, PendingProgress, type PendingToken, tooLongError} from './progress.js';

const MAX_PENDING = 65_536;

/** The maximum number of cancelled requests without a response. The oldest is evicted for the next. */
const MAX_CANCELLED = 1024;

const MAX_ABANDONED = 10_000;

export type PendingRequest = {
	/** The id as the client sent it, as JSON text. */
	readonly id: string;
	/** The id that was sent to the upstream, as JSON text. */
	readonly upstreamId: string;
	readonly method: string;
	readonly origin: MessageOrigin;
	/** Monotonic time in milliseconds. */
	readonly startedAt: number;
	isCancelled: boolean;
	/** Whether most stages were skipped for the request, and are skipped for its response. */
	readonly isFastPath: boolean;
	/** The progress token, until the client no longer expects progress. */
	token: PendingToken | undefined;
};

/** A count of pending requests that several sessions share. */
export type PendingCount = {count: number; readonly limitError: () => BridgeError | undefined};

/** The pending requests of one client, the oldest first. */
export class PendingRequests {
	readonly #now: () => number;
	/** The requests, by the canonical key of the upstream id. */
	readonly #byKey = new SlotMap<string, PendingRequest>();
	/** The requests that were sent to the upstream with another id, by the client's id. */
	readonly #byAliasedId = new Map<string, PendingRequest>();
	/** Keys of abandoned requests that may still get a late response. The oldest is evicted for the next. */
	readonly #abandoned = new BoundedStringMap<true>(MAX_ABANDONED);
	/** The cancelled requests without a response, the oldest first. */
	readonly #cancelled = new Set<PendingRequest>();
	readonly progress = new PendingProgress();
	/**
	 * Whether ids that many upstreams do not respond to are forwarded unchanged. False where messages are
	 * rewritten anyway.
	 */
	forwardsUncommonIds = true;
	readonly #aliasPrefix = randomUUID();
	#aliasCount = 0;
	/** Counts the requests that are not cancelled, until the session ends. */
	#sharedCount: PendingCount | undefined;

	/**
	 * `now` must be monotonic, in milliseconds, since the wall clock may be set while a request is pending.
	 */
	constructor(now = () => performance.now(), sharedCount?: PendingCount) {
		this.#now = now;
		this.#sharedCount = sharedCount;
	}

	/** Removes all requests from the shared count when the session ends. */
	release(): void {
		for (const entry of this.#byKey.values()) this.#uncount(entry);
		this.#sharedCount = undefined;
	}

	#uncount({isCancelled}: PendingRequest): void {
		if (this.#sharedCount && !isCancelled) this.#sharedCount.count--;
	}

	/** The number of pending requests, including cancelled ones. */
	get size(): number {
		return this.#byKey.size;
	}

	readonly count = (): number => [...this.#byKey.values()].filter(({isCancelled}) => !isCancelled).length;

	/** Whether any pending request is not cancelled. */
	get hasPending(): boolean {
		for (const {isCancelled} of this.#byKey.values()) if (!isCancelled) return true;
		return false;
	}

	/** Adds a request and assigns the upstream id. Throws if the request must be rejected. */
	add(request: Envelope): PendingRequest {
		const {id = '', key = '', method = ''} = request.head;
		if (id.length > MAX_IDENTIFIER_LENGTH || method.length > MAX_IDENTIFIER_LENGTH)
			throw tooLongError(id.length > MAX_IDENTIFIER_LENGTH ? 'id' : 'method');
		const limitError = this.#sharedCount?.limitError();
		if (limitError) throw limitError;
		const isKnown = this.#byKey.has(key) || (this.#abandoned.size > 0 && this.#abandoned.has(key));
		const canForwardAsIs =
			!isKnown && this.#byAliasedId.size === 0 && this.#byKey.size < MAX_PENDING && this.#canForwardId(key);
		if (!canForwardAsIs) return this.#addWithAlias(request, id, key);
		const entry = this.#createEntry(request, id, id);
		this.#byKey.set(key, entry);
		return entry;
	}

	#canForwardId(key: string): boolean {
		return this.forwardsUncommonIds || isCommonId(key);
	}

	#createEntry(request: Envelope, id: string, upstreamId: string): PendingRequest {
		const {head, origin} = request;
		const token = this.progress.begin(request);
		const {isFastPath} = request;
		const startedAt = this.#now();
		if (this.#sharedCount) this.#sharedCount.count++;
		return {
			id,
			upstreamId,
			method: head.method ?? '',
			origin,
			startedAt,
			isCancelled: false,
			isFastPath,
			token,
		};
	}

	#endProgress(entry: PendingRequest): void {
		if (entry.token !== undefined) this.progress.end(entry.token);
		entry.token = undefined;
	}

	#addWithAlias(request: Envelope, id: string, key: string): PendingRequest {
		const existing = this.#find(id);
		if (existing && !existing.isCancelled) throw duplicateIdError(id);
		// A cancelled request may never get a response, so its id can be reused.
		if (existing) this.#abandonEntry(existing);
		if (this.#byKey.size >= MAX_PENDING) this.#evictOrReject();
		if (!this.#byKey.has(key) && !this.#abandoned.has(key) && this.#canForwardId(key)) {
			const entry = this.#createEntry(request, id, id);
			this.#byKey.set(key, entry);
			return entry;
		}
		// The upstream gets an alias for another spelling of a pending number, for an id that may still get a
		// late response, and for an id that many upstreams do not respond to.
		const entry = this.#createEntry(request, id, `"${this.#aliasPrefix}-${++this.#aliasCount}"`);
		this.#byKey.set(entry.upstreamId, entry);
		this.#byAliasedId.set(exactId(id), entry);
		return entry;
	}

	/** Returns the method of the request that a response with this key belongs to. */
	methodOf(key: string): string | undefined {
		return this.#byKey.get(key)?.method;
	}

	/** Whether the request with this key was sent on the fast path. */
	isFastPath(key: string): boolean {
		return this.#byKey.get(key)?.isFastPath === true;
	}

	/** Returns the client's id of the request with this key, as JSON text. */
	idOf(key: string): string | undefined {
		return this.#byKey.get(key)?.id;
	}

	/** Marks the request with this id as cancelled. It may still get a response. */
	cancel(id: string): PendingRequest | undefined {
		const entry = this.#find(id);
		if (!entry) return;
		this.#uncount(entry);
		entry.isCancelled = true;
		this.#endProgress(entry);
		this.#cancelled.add(entry);
		if (this.#cancelled.size > MAX_CANCELLED) this.#evictCancelled();
		return entry;
	}

	/** Removes and returns the request that a response with this key belongs to. */
	settle(key: string): PendingRequest | undefined {
		const entry = this.#byKey.take(key);
		if (entry) this.#uncount(entry);
		if (entry?.token !== undefined) this.#endProgress(entry);
		if (entry?.isCancelled) this.#cancelled.delete(entry);
		if (entry && this.#byAliasedId.size > 0) this.#removeAlias(entry);
		if (!entry && this.#abandoned.size > 0) this.#abandoned.delete(key);
		return entry;
	}

	/** Abandons the request with this key, which the upstream may still respond to. Returns the request. */
	abandon(key: string): PendingRequest | undefined {
		const entry = this.#byKey.get(key);
		if (entry) this.#abandonEntry(entry);
		return entry;
	}

	/** The requests that are not cancelled, the oldest first, with their age in milliseconds. */
	*byAge(): Generator<readonly [request: PendingRequest, waitedMs: number]> {
		for (const entry of this.#byKey.values())
			if (!entry.isCancelled) yield [entry, this.#now() - entry.startedAt];
	}

	/** Removes all requests. Returns the ids of those that were not cancelled. */
	drain(): string[] {
		const remaining = [...this.#byKey.values()].filter(({isCancelled}) => !isCancelled);
		for (const entry of remaining) {
			this.#endProgress(entry);
			this.#uncount(entry);
		}
		this.#byKey.clear();
		this.#byAliasedId.clear();
		this.#cancelled.clear();
		return remaining.map(({id}) => id);
	}

	/** Finds the request with the same spelling of the id, or with an equal string. */
	#find(id: string): PendingRequest | undefined {
		const entry = this.#byKey.get(canonicalId(id));
		if (entry && (entry.id === id || id.startsWith('"'))) return entry;
		return this.#byAliasedId.get(exactId(id));
	}

	#removeAlias(entry: PendingRequest): void {
		const id = exactId(entry.id);
		if (this.#byAliasedId.get(id) === entry) this.#byAliasedId.delete(id);
	}

	/** Removes a request that may still get a late response. */
	#abandonEntry(entry: PendingRequest): void {
		const key = canonicalId(entry.upstreamId);
		if (this.#byKey.delete(key)) this.#uncount(entry);
		this.#endProgress(entry);
		this.#removeAlias(entry);
		this.#cancelled.delete(entry);
		this.#abandoned.set(key, true);
	}

	/** Abandons the oldest cancelled request. Returns whether there was one. */
	#evictCancelled(): boolean {
		const [oldest] = this.#cancelled;
		if (oldest) this.#abandonEntry(oldest);
		return oldest !== undefined;
	}

	#evictOrReject(): void {
		if (this.#evictCancelled()) return;
		const message = `${MAX_PENDING} requests are already pending.`;
		throw new BridgeError('ERR_SESSION_BUSY', message, 'Wait for some of them before you send more.', {
			limit: MAX_PENDING,
		});
	}
}

export const duplicateIdError = (id: string): BridgeError =>
	new BridgeError(
		'ERR_MESSAGE_INVALID',
		`A request with the id ${id} is already pending.`,
		'Use a unique id for each request. The first request continues.',
	);
