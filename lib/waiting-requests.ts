import {randomUUID} from 'node:crypto';
import {performance} from 'node:perf_hooks';
import {AwaitedProgress, MAX_WORD, type Token, tooLong} from './awaited-progress.js';
import type {Envelope, Origin} from './envelope.js';
import {BridgeError} from './errors.js';
import {PassingMap} from './passing-map.js';
import {canonicalId, exactId, isCommonId} from './wire/id.js';
import {WordMap} from './word-map.js';

/** Requests that may wait for their answers at a time. */
const MAX_WAITING = 65_536;

/** Cancelled requests without a response, which may never get one; the oldest is evicted for the next. */
const MAX_CANCELLED = 1024;

const MAX_GIVEN_UP = 10_000;

/** A request without an answer yet. */
export type Waiting = {
	/** Its id as the client wrote it. */
	readonly id: string;
	/** Its id as the upstream knows it. */
	readonly told: string;
	readonly method: string;
	readonly origin: Origin;
	/** When it was asked. */
	readonly at: number;
	isCancelled: boolean;
	/** Whether it was passed on by those who need not see such requests, nor their answers. */
	readonly isEveryday: boolean;
	/** What its progress is told under, as long as somebody wants to hear of it. */
	token: Token | undefined;
};

/** A count of pending requests that several sessions have in common. */
export type Tally = {count: number; readonly problem: () => BridgeError | undefined};

/** The requests of one client that wait for an answer, by all that an answer may call them, the oldest first. */
export class WaitingRequests {
	readonly #now: () => number;
	/** By what is the same for all spellings of the id that the upstream was told. */
	readonly #byKey = new PassingMap<string, Waiting>();
	/** Those that were sent to the upstream under another id, by their own. */
	readonly #renamed = new Map<string, Waiting>();
	/** Keys that the upstream has not answered, and nobody waits for any more. The oldest is forgotten for the next. */
	readonly #givenUp = new WordMap<true>(MAX_GIVEN_UP);
	/** The cancelled requests without a response, the oldest first. */
	readonly #cancelled = new Set<Waiting>();
	/** The progress that somebody waits for. */
	readonly progress = new AwaitedProgress();
	/** Whether ids that many servers do not answer under are told as they are. Not where messages are changed anyway. */
	tellsUncommonIds = true;
	/** Makes those ids such that nobody else would think of them. */
	readonly #prefix = randomUUID();
	#names = 0;
	/** Counts the requests that were not cancelled, until the session ends. */
	#tally: Tally | undefined;

	/** `now` is monotonic, in milliseconds: the clock on the wall may be set while a request waits. */
	constructor(now = () => performance.now(), tally?: Tally) {
		this.#now = now;
		this.#tally = tally;
	}

	/** The session is over, and its requests no longer count. */
	release(): void {
		for (const entry of this.#byKey.values()) this.#uncount(entry);
		this.#tally = undefined;
	}

	#uncount({isCancelled}: Waiting): void {
		if (this.#tally && !isCancelled) this.#tally.count--;
	}

	/** How many there are. */
	get size(): number {
		return this.#byKey.size;
	}

	readonly count = (): number => [...this.#byKey.values()].filter(({isCancelled}) => !isCancelled).length;

	/** Whether there is a pending request that was not cancelled. */
	get areAwaited(): boolean {
		for (const {isCancelled} of this.#byKey.values()) if (!isCancelled) return true;
		return false;
	}

	/** Adds a request, with the id to send to the upstream, or rejects it. */
	add(request: Envelope): Waiting {
		const {id = '', key = '', method = ''} = request.head;
		if (id.length > MAX_WORD || method.length > MAX_WORD)
			throw tooLong(id.length > MAX_WORD ? 'id' : 'method');
		const full = this.#tally?.problem();
		if (full) throw full;
		const isKnown = this.#byKey.has(key) || (this.#givenUp.size > 0 && this.#givenUp.has(key));
		const isPlain =
			!isKnown && this.#renamed.size === 0 && this.#byKey.size < MAX_WAITING && this.#mayTell(key);
		if (!isPlain) return this.#addUnusual(request, id, key);
		const entry = this.#entry(request, id, id);
		this.#byKey.set(key, entry);
		return entry;
	}

	#mayTell(key: string): boolean {
		return this.tellsUncommonIds || isCommonId(key);
	}

	#entry(request: Envelope, id: string, told: string): Waiting {
		const {head, origin} = request;
		const token = this.progress.begin(request);
		const {isEveryday} = request;
		const at = this.#now();
		if (this.#tally) this.#tally.count++;
		return {id, told, method: head.method ?? '', origin, at, isCancelled: false, isEveryday, token};
	}

	/** Nobody wants to hear of a request's progress any more. */
	#silence(entry: Waiting): void {
		if (entry.token !== undefined) this.progress.end(entry.token);
		entry.token = undefined;
	}

	#addUnusual(request: Envelope, id: string, key: string): Waiting {
		const same = this.#find(id);
		if (same && !same.isCancelled) throw inFlight(id);
		// A request that was cancelled may never be answered, and its id be used again.
		if (same) this.#giveUp(same);
		if (this.#byKey.size >= MAX_WAITING) this.#makeRoom();
		if (!this.#byKey.has(key) && !this.#givenUp.has(key) && this.#mayTell(key)) {
			const entry = this.#entry(request, id, id);
			this.#byKey.set(key, entry);
			return entry;
		}
		// Another spelling of a number that is in flight, an id that an answer may still come for, or one that many servers
		// do not answer at all: the upstream gets another id, so that there is an answer and it can be told apart.
		const entry = this.#entry(request, id, `"${this.#prefix}-${++this.#names}"`);
		this.#byKey.set(entry.told, entry);
		this.#renamed.set(exactId(id), entry);
		return entry;
	}

	/** The method of the request that an answer with this key is for. */
	methodOf(key: string): string | undefined {
		return this.#byKey.get(key)?.method;
	}

	/** Whether that request was an everyday one. */
	isEveryday(key: string): boolean {
		return this.#byKey.get(key)?.isEveryday === true;
	}

	/** The id of that request, as the client wrote it. */
	idOf(key: string): string | undefined {
		return this.#byKey.get(key)?.id;
	}

	/** The client cancelled the request with this id, which may still get a response. */
	cancel(id: string): Waiting | undefined {
		const found = this.#find(id);
		if (!found) return;
		this.#uncount(found);
		found.isCancelled = true;
		this.#silence(found);
		this.#cancelled.add(found);
		if (this.#cancelled.size > MAX_CANCELLED) this.#giveUpCancelled();
		return found;
	}

	/** The request that is answered by something with this key, which no longer waits then. */
	take(key: string): Waiting | undefined {
		const found = this.#byKey.take(key);
		if (found) this.#uncount(found);
		if (found?.token !== undefined) this.#silence(found);
		if (found?.isCancelled) this.#cancelled.delete(found);
		if (found && this.#renamed.size > 0) this.#unname(found);
		if (!found && this.#givenUp.size > 0) this.#givenUp.delete(key);
		return found;
	}

	/** The same, where it was not the upstream that answered: it may do so yet. */
	takeUnanswered(key: string): Waiting | undefined {
		const found = this.#byKey.get(key);
		if (found) this.#giveUp(found);
		return found;
	}

	/** Those that somebody still waits for, the oldest first, with how long it has. */
	*byAge(): Generator<readonly [request: Waiting, waitedMs: number]> {
		for (const entry of this.#byKey.values()) if (!entry.isCancelled) yield [entry, this.#now() - entry.at];
	}

	/** The ids of all that somebody still waits for; none of them waits any longer. */
	takeAll(): string[] {
		const left = [...this.#byKey.values()].filter(({isCancelled}) => !isCancelled);
		for (const entry of left) {
			this.#silence(entry);
			this.#uncount(entry);
		}
		this.#byKey.clear();
		this.#renamed.clear();
		this.#cancelled.clear();
		return left.map(({id}) => id);
	}

	/** The request with an id that is written just so, or is a string that reads the same. */
	#find(id: string): Waiting | undefined {
		const found = this.#byKey.get(canonicalId(id));
		if (found && (found.id === id || id.startsWith('"'))) return found;
		return this.#renamed.get(exactId(id));
	}

	#unname(entry: Waiting): void {
		const id = exactId(entry.id);
		if (this.#renamed.get(id) === entry) this.#renamed.delete(id);
	}

	/** Lets go of a request that an answer may still come for. */
	#giveUp(entry: Waiting): void {
		const key = canonicalId(entry.told);
		if (this.#byKey.delete(key)) this.#uncount(entry);
		this.#silence(entry);
		this.#unname(entry);
		this.#cancelled.delete(entry);
		this.#givenUp.set(key, true);
	}

	/** Evicts the request that was cancelled first. Returns whether there was one. */
	#giveUpCancelled(): boolean {
		const [oldest] = this.#cancelled;
		if (oldest) this.#giveUp(oldest);
		return oldest !== undefined;
	}

	#makeRoom(): void {
		if (this.#giveUpCancelled()) return;
		const message = `${MAX_WAITING} requests wait for an answer already.`;
		throw new BridgeError('ERR_SESSION_BUSY', message, 'Wait for some of them before you send more.', {
			limit: MAX_WAITING,
		});
	}
}

/** Of two requests with one id the second is refused. */
export const inFlight = (id: string): BridgeError =>
	new BridgeError(
		'ERR_MESSAGE_INVALID',
		`The id ${id} is in flight already.`,
		'Give each request an id of its own; the first one goes on.',
	);
