import {randomUUID} from 'node:crypto';
import {performance} from 'node:perf_hooks';
import {AwaitedProgress} from './awaited-progress.js';
import type {Envelope, Origin} from './envelope.js';
import {BridgeError} from './errors.js';
import {PassingMap} from './passing-map.js';
import {canonicalId, isCommonId} from './wire/id.js';

/** Requests that may wait for their answers at a time. */
const MAX_WAITING = 65_536;

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
	token: string | undefined;
};

/** The requests of one client that wait for an answer, by all that an answer may call them, the oldest first. */
export class WaitingRequests {
	readonly #now: () => number;
	/** By what is the same for all spellings of the id that the upstream was told. */
	readonly #byKey = new PassingMap<string, Waiting>();
	/** Those that the upstream knows under another id. */
	readonly #renamed = new Set<Waiting>();
	/** Keys that the upstream has not answered, and nobody waits for any more. The oldest is forgotten for the next. */
	readonly #givenUp = new Set<string>();
	/** The progress that somebody waits for. */
	readonly progress = new AwaitedProgress();
	/** Whether ids that many servers do not answer under are told as they are. Not where messages are changed anyway. */
	tellsUncommonIds = true;
	/** Makes those ids such that nobody else would think of them. */
	readonly #prefix = randomUUID();
	#names = 0;

	/** `now` is monotonic, in milliseconds: the clock on the wall may be set while a request waits. */
	constructor(now = () => performance.now()) {
		this.#now = now;
	}

	/** How many there are. */
	get size(): number {
		return this.#byKey.size;
	}

	/** Whether somebody still waits for one of them. */
	get areAwaited(): boolean {
		for (const {isCancelled} of this.#byKey.values()) if (!isCancelled) return true;
		return false;
	}

	/** Takes a request in. Returns the id to tell the upstream, or refuses it. */
	add(request: Envelope): string {
		const {id = '', key = ''} = request.head;
		const isKnown = this.#byKey.has(key) || (this.#givenUp.size > 0 && this.#givenUp.has(key));
		const isPlain =
			!isKnown && this.#renamed.size === 0 && this.#byKey.size < MAX_WAITING && this.#mayTell(key);
		if (!isPlain) return this.#addUnusual(request, id, key);
		this.#byKey.set(key, this.#entry(request, id, id));
		return id;
	}

	#mayTell(key: string): boolean {
		return this.tellsUncommonIds || isCommonId(key);
	}

	#entry(request: Envelope, id: string, told: string): Waiting {
		const {head, origin} = request;
		const token = this.progress.begin(request);
		const {isEveryday} = request;
		const at = this.#now();
		return {id, told, method: head.method ?? '', origin, at, isCancelled: false, isEveryday, token};
	}

	/** Nobody wants to hear of a request's progress any more. */
	#silence(entry: Waiting): void {
		if (entry.token !== undefined) this.progress.end(entry.token);
		entry.token = undefined;
	}

	#addUnusual(request: Envelope, id: string, key: string): string {
		const same = this.#find(id);
		if (same && !same.isCancelled) throw inFlight(id);
		// A request that was cancelled may never be answered, and its id be used again.
		if (same) this.#giveUp(same);
		if (this.#byKey.size >= MAX_WAITING) this.#makeRoom();
		if (!this.#byKey.has(key) && !this.#givenUp.has(key) && this.#mayTell(key)) {
			this.#byKey.set(key, this.#entry(request, id, id));
			return id;
		}
		// Another spelling of a number that is in flight, an id that an answer may still come for, or one that many servers
		// do not answer at all: the upstream gets another id, so that there is an answer and it can be told apart.
		const entry = this.#entry(request, id, `"${this.#prefix}-${++this.#names}"`);
		this.#byKey.set(entry.told, entry);
		this.#renamed.add(entry);
		return entry.told;
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

	/** The client gave a request up, which may be answered all the same. */
	cancel(id: string): Waiting | undefined {
		const found = this.#find(id) ?? this.#byKey.get(canonicalId(id));
		if (!found) return;
		found.isCancelled = true;
		this.#silence(found);
		return found;
	}

	/** The request that is answered by something with this key, which no longer waits then. */
	take(key: string): Waiting | undefined {
		const found = this.#byKey.take(key);
		if (found?.token !== undefined) this.#silence(found);
		if (found && this.#renamed.size > 0) this.#renamed.delete(found);
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
		for (const entry of left) this.#silence(entry);
		this.#byKey.clear();
		this.#renamed.clear();
		return left.map(({id}) => id);
	}

	/** The request with an id that is written just so, or is a string that reads the same. */
	#find(id: string): Waiting | undefined {
		const found = this.#byKey.get(canonicalId(id));
		if (found && (found.id === id || id.startsWith('"'))) return found;
		for (const entry of this.#renamed) if (entry.id === id) return entry;
		return;
	}

	/** Lets go of a request that an answer may still come for. */
	#giveUp(entry: Waiting): void {
		const key = canonicalId(entry.told);
		this.#byKey.delete(key);
		this.#silence(entry);
		this.#renamed.delete(entry);
		this.#givenUp.add(key);
		const [oldest] = this.#givenUp;
		if (this.#givenUp.size > MAX_GIVEN_UP && oldest !== undefined) this.#givenUp.delete(oldest);
	}

	/** Forgets a request that was cancelled. Without one there is no room. */
	#makeRoom(): void {
		for (const entry of this.#byKey.values())
			if (entry.isCancelled) {
				this.#giveUp(entry);
				return;
			}
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
