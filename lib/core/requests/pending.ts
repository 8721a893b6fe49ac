import {randomUUID} from 'node:crypto';
import {performance} from 'node:perf_hooks';
import {BoundedStringMap} from '../../util/bounded-string-map.js';
import {canonicalId, exactId, isCommonId} from '../../wire/id.js';
import type {Envelope, MessageOrigin} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {SlotMap} from '../fast/slot-map.js';
import {MAX_IDENTIFIER_LENGTH, PendingProgress, type PendingToken, tooLongError} from './progress.js';

/** Requests that may wait for their answers at a time. */
const MAX_PENDING = 65_536;

/** Cancelled requests without a response, which may never get one; the oldest is evicted for the next. */
const MAX_CANCELLED = 1024;

const MAX_ABANDONED = 10_000;

/** A request without an answer yet. */
export type PendingRequest = {
	/** Its id as the client wrote it. */
	readonly id: string;
	/** Its id as the upstream knows it. */
	readonly upstreamId: string;
	readonly method: string;
	readonly origin: MessageOrigin;
	/** When it was asked. */
	readonly startedAt: number;
	isCancelled: boolean;
	/** Whether it was passed on by those who need not see such requests, nor their answers. */
	readonly isFastPath: boolean;
	/** What its progress is told under, as long as somebody wants to hear of it. */
	token: PendingToken | undefined;
};

/** A count of pending requests that several sessions have in common. */
export type PendingCount = {count: number; readonly limitError: () => BridgeError | undefined};

/** The requests of one client that wait for an answer, by all that an answer may call them, the oldest first. */
export class PendingRequests {
	readonly #now: () => number;
	/** By what is the same for all spellings of the id that the upstream was told. */
	readonly #byKey = new SlotMap<string, PendingRequest>();
	/** Those that were sent to the upstream under another id, by their own. */
	readonly #byAliasedId = new Map<string, PendingRequest>();
	/** Keys that the upstream has not answered, and nobody waits for any more. The oldest is forgotten for the next. */
	readonly #abandoned = new BoundedStringMap<true>(MAX_ABANDONED);
	/** The cancelled requests without a response, the oldest first. */
	readonly #cancelled = new Set<PendingRequest>();
	/** The progress that somebody waits for. */
	readonly progress = new PendingProgress();
	/** Whether ids that many servers do not answer under are told as they are. Not where messages are changed anyway. */
	forwardsUncommonIds = true;
	/** Makes those ids such that nobody else would think of them. */
	readonly #aliasPrefix = randomUUID();
	#aliasCount = 0;
	/** Counts the requests that were not cancelled, until the session ends. */
	#sharedCount: PendingCount | undefined;

	/** `now` is monotonic, in milliseconds: the clock on the wall may be set while a request waits. */
	constructor(now = () => performance.now(), sharedCount?: PendingCount) {
		this.#now = now;
		this.#sharedCount = sharedCount;
	}

	/** The session is over, and its requests no longer count. */
	release(): void {
		for (const entry of this.#byKey.values()) this.#uncount(entry);
		this.#sharedCount = undefined;
	}

	#uncount({isCancelled}: PendingRequest): void {
		if (this.#sharedCount && !isCancelled) this.#sharedCount.count--;
	}

	/** How many there are. */
	get size(): number {
		return this.#byKey.size;
	}

	readonly count = (): number => [...this.#byKey.values()].filter(({isCancelled}) => !isCancelled).length;

	/** Whether there is a pending request that was not cancelled. */
	get hasPending(): boolean {
		for (const {isCancelled} of this.#byKey.values()) if (!isCancelled) return true;
		return false;
	}

	/** Adds a request, with the id to send to the upstream, or rejects it. */
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

	/** Nobody wants to hear of a request's progress any more. */
	#endProgress(entry: PendingRequest): void {
		if (entry.token !== undefined) this.progress.end(entry.token);
		entry.token = undefined;
	}

	#addWithAlias(request: Envelope, id: string, key: string): PendingRequest {
		const existing = this.#find(id);
		if (existing && !existing.isCancelled) throw duplicateIdError(id);
		// A request that was cancelled may never be answered, and its id be used again.
		if (existing) this.#abandonEntry(existing);
		if (this.#byKey.size >= MAX_PENDING) this.#evictOrReject();
		if (!this.#byKey.has(key) && !this.#abandoned.has(key) && this.#canForwardId(key)) {
			const entry = this.#createEntry(request, id, id);
			this.#byKey.set(key, entry);
			return entry;
		}
		// Another spelling of a number that is in flight, an id that an answer may still come for, or one that many servers
		// do not answer at all: the upstream gets another id, so that there is an answer and it can be told apart.
		const entry = this.#createEntry(request, id, `"${this.#aliasPrefix}-${++this.#aliasCount}"`);
		this.#byKey.set(entry.upstreamId, entry);
		this.#byAliasedId.set(exactId(id), entry);
		return entry;
	}

	/** The method of the request that an answer with this key is for. */
	methodOf(key: string): string | undefined {
		return this.#byKey.get(key)?.method;
	}

	/** Whether that request was an everyday one. */
	isFastPath(key: string): boolean {
		return this.#byKey.get(key)?.isFastPath === true;
	}

	/** The id of that request, as the client wrote it. */
	idOf(key: string): string | undefined {
		return this.#byKey.get(key)?.id;
	}

	/** The client cancelled the request with this id, which may still get a response. */
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

	/** The request that is answered by something with this key, which no longer waits then. */
	settle(key: string): PendingRequest | undefined {
		const entry = this.#byKey.take(key);
		if (entry) this.#uncount(entry);
		if (entry?.token !== undefined) this.#endProgress(entry);
		if (entry?.isCancelled) this.#cancelled.delete(entry);
		if (entry && this.#byAliasedId.size > 0) this.#removeAlias(entry);
		if (!entry && this.#abandoned.size > 0) this.#abandoned.delete(key);
		return entry;
	}

	/** The same, where it was not the upstream that answered: it may do so yet. */
	abandon(key: string): PendingRequest | undefined {
		const entry = this.#byKey.get(key);
		if (entry) this.#abandonEntry(entry);
		return entry;
	}

	/** Those that somebody still waits for, the oldest first, with how long it has. */
	*byAge(): Generator<readonly [request: PendingRequest, waitedMs: number]> {
		for (const entry of this.#byKey.values())
			if (!entry.isCancelled) yield [entry, this.#now() - entry.startedAt];
	}

	/** The ids of all that somebody still waits for; none of them waits any longer. */
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

	/** The request with an id that is written just so, or is a string that reads the same. */
	#find(id: string): PendingRequest | undefined {
		const entry = this.#byKey.get(canonicalId(id));
		if (entry && (entry.id === id || id.startsWith('"'))) return entry;
		return this.#byAliasedId.get(exactId(id));
	}

	#removeAlias(entry: PendingRequest): void {
		const id = exactId(entry.id);
		if (this.#byAliasedId.get(id) === entry) this.#byAliasedId.delete(id);
	}

	/** Lets go of a request that an answer may still come for. */
	#abandonEntry(entry: PendingRequest): void {
		const key = canonicalId(entry.upstreamId);
		if (this.#byKey.delete(key)) this.#uncount(entry);
		this.#endProgress(entry);
		this.#removeAlias(entry);
		this.#cancelled.delete(entry);
		this.#abandoned.set(key, true);
	}

	/** Evicts the request that was cancelled first. Returns whether there was one. */
	#evictCancelled(): boolean {
		const [oldest] = this.#cancelled;
		if (oldest) this.#abandonEntry(oldest);
		return oldest !== undefined;
	}

	#evictOrReject(): void {
		if (this.#evictCancelled()) return;
		const message = `${MAX_PENDING} requests wait for an answer already.`;
		throw new BridgeError('ERR_SESSION_BUSY', message, 'Wait for some of them before you send more.', {
			limit: MAX_PENDING,
		});
	}
}

/** Of two requests with one id the second is refused. */
export const duplicateIdError = (id: string): BridgeError =>
	new BridgeError(
		'ERR_MESSAGE_INVALID',
		`The id ${id} is in flight already.`,
		'Give each request an id of its own; the first one goes on.',
	);
