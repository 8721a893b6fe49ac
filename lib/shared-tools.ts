import type {Log} from './log.js';
import {NoToolList, resultText, type ToolList} from './protocol/tool-list.js';
import {Rate} from './rate.js';
import type {Shelf} from './tool-shelf.js';

/** One conversation with the server that a list is shared between. */
export type Member = {
	/** Asks the server for the whole list, and calls `done` once, unless the member leaves before. */
	fetch(maxBytes: number, done: (outcome: ToolList | NoToolList) => void): void;
	/** This is the revision of the list now: the client is told, unless it has been told of this one. */
	cached(revision: number): void;
	/** Whoever waits gets this result, or asks the server if there is none. Returns whether anybody did wait. */
	settled(result: string | undefined): boolean;
};

/** What becomes of a request: it has its result, waits for `settled`, or is passed on to the server. */
export type Reading = {readonly result: string} | 'wait' | 'pass on';

export type SharedToolsOptions = {
	/** The server's name, for people. */
	readonly server: string;
	readonly log: Log;
	/** A list over this is not kept. */
	readonly maxBytes: number;
	/** A clock that is never set, in milliseconds. */
	readonly now: () => number;
	/** Where others keep the same list, too. */
	readonly shelf?: Shelf | undefined;
};

/** How often a server is asked because it said so, in how much time. One that says so whenever it is asked never ends. */
const MAX_REFRESHES = 10;
const WINDOW_MS = 10_000;
/** Tools whose change is told one by one; of the others, how many there are. */
const MAX_TOLD = 20;

/**
 * The list of a server's tools, for all conversations that share it: one request for all, and every client told.
 *
 * It is fresh until the server says that it changed, until its own `ttlMs` is over, or until nobody is left who would hear
 * of a change. It is fetched anew then, and whoever asks meanwhile waits for that. When that fails, a list from before
 * is given once more, with a warning; the next one who asks gets the server's own error, if it still has one.
 */
export class SharedTools {
	readonly #options: SharedToolsOptions;
	readonly #members = new Set<Member>();
	#list: ToolList | undefined;
	#isFresh = false;
	#receivedAt = 0;
	/** Another one whenever the tools are others. */
	#revision = 0;
	/** Another one whenever the server says that they may be: what was asked for before then is not kept. */
	#generation = 0;
	#flight: {readonly by: Member; readonly generation: number} | undefined;
	/** Who heard last of a change. */
	#witness: Member | undefined;
	/** How often the server is asked because it said that its tools changed. */
	readonly #refreshes: Rate;
	/** Has it asked when it may be again. */
	#later: NodeJS.Timeout | undefined;
	#hasFailed = false;
	#hasServedStale = false;
	/** Whether the list is too large to be kept, and nothing is done here any more. */
	#isOff = false;

	constructor(options: SharedToolsOptions) {
		this.#options = options;
		this.#refreshes = new Rate(MAX_REFRESHES, WINDOW_MS, options.now);
		options.shelf?.onOther(fingerprint => this.#heardOf(fingerprint));
	}

	/** How many tools there are, as far as is known. */
	get count(): number | undefined {
		return this.#list?.count;
	}

	/** Takes a conversation in whose handshake is complete. */
	join(member: Member): void {
		this.#members.add(member);
		if (this.#isGood) member.cached(this.#revision);
		else this.#refresh(member);
	}

	leave(member: Member): void {
		if (!this.#members.delete(member)) return;
		const [other] = this.#members;
		if (this.#witness === member) this.#witness = undefined;
		if (this.#flight?.by === member) this.#flight = undefined;
		else if (other) return;
		if (other) {
			this.#refresh(other);
			return;
		}
		this.#isFresh = false;
		this.#isOff = false;
		this.#later = void clearTimeout(this.#later);
	}

	/** The server told this member that its tools changed. Returns whether that is taken care of. */
	invalidate(member: Member): boolean {
		if (this.#isOff) return false;
		this.#generation++;
		this.#isFresh = false;
		this.#witness = member;
		if (!this.#flight) this.#lookAgain();
		return true;
	}

	/** Somebody else has a list with this fingerprint. If it is another one, the server is asked here, too. */
	#heardOf(fingerprint: string): void {
		if (this.#isOff || !this.#list || this.#list.fingerprint === fingerprint) return;
		this.#generation++;
		this.#isFresh = false;
		if (!this.#flight) this.#lookAgain();
	}

	/** Asks for the list in the name of a client. */
	read(member: Member): Reading {
		if (this.#isOff) return 'pass on';
		if (this.#isGood && this.#list) return {result: this.#resultOf(this.#list)};
		const isHopeful = !this.#hasFailed || this.#list !== undefined || this.#flight !== undefined;
		this.#refresh(member);
		// A server that has not been able to list its tools so far is not waited for twice.
		return isHopeful ? 'wait' : 'pass on';
	}

	get #isGood(): boolean {
		return this.#isFresh && this.#list !== undefined && (this.#leftMs(this.#list) ?? 1) > 0;
	}

	#leftMs({ttlMs}: ToolList): number | undefined {
		return ttlMs === undefined ? undefined : this.#receivedAt + ttlMs - this.#options.now();
	}

	#resultOf(list: ToolList): string {
		return resultText(list, this.#leftMs(list));
	}

	#refresh(by: Member): void {
		if (this.#flight) return;
		const flight = {by, generation: this.#generation};
		this.#flight = flight;
		const land = (outcome: ToolList | NoToolList): void => {
			if (this.#flight !== flight) return;
			this.#flight = undefined;
			this.#landed(outcome, flight.generation);
		};
		const {shelf, maxBytes} = this.#options;
		const ask = (): void => by.fetch(maxBytes, land);
		if (!shelf || this.#list) ask();
		else
			void shelf.read().then(list => {
				if (list) land(list);
				else if (this.#flight === flight) ask();
			});
	}

	#landed(outcome: ToolList | NoToolList, generation: number): void {
		if (generation === this.#generation) {
			if (outcome instanceof NoToolList) this.#failed(outcome);
			else this.#keep(outcome);
			return;
		}
		// The tools changed since they were asked for, so nobody can tell whether this is from before or after.
		if (!this.#lookAgain()) this.#failed(new NoToolList('changes them faster than it lists them'));
	}

	/** Has the server asked by who heard of the change, now or when it may be. Returns whether that is now. */
	#lookAgain(): boolean {
		const [anybody] = this.#members;
		const by = this.#witness ?? anybody;
		if (!by) return false;
		if (this.#refreshes.take()) {
			this.#refresh(by);
			return true;
		}
		if (this.#later) return false;
		const {log, server} = this.#options;
		const sentence = `${server} said more than ${MAX_REFRESHES} times in ${WINDOW_MS / 1000} s that its tools changed; it is asked for them later, or when a client asks.`;
		log.warn('tools.restless', sentence, {server});
		this.#later = setTimeout(() => {
			this.#later = undefined;
			if (!this.#isFresh && !this.#flight) this.#lookAgain();
		}, this.#refreshes.waitMs).unref();
		return false;
	}

	#tell(revision: number): void {
		this.#revision = revision;
		for (const member of [...this.#members]) member.cached(revision);
	}

	#keep(list: ToolList): void {
		const {now} = this.#options;
		const before = this.#list;
		const isOther = before?.fingerprint !== list.fingerprint;
		if (before) this.#compare(before, list);
		if (isOther) this.#options.shelf?.write(list);
		this.#list = list;
		this.#isFresh = true;
		this.#receivedAt = now();
		this.#hasFailed = false;
		this.#hasServedStale = false;
		this.#tell(this.#revision + (isOther ? 1 : 0));
		for (const member of [...this.#members]) member.settled(this.#resultOf(list));
	}

	/** A tool that is no longer what it was may not be what somebody has agreed to. */
	#compare(before: ToolList, after: ToolList): void {
		const {log, server} = this.#options;
		const changes = [...after.hashes].filter(([tool, hash]) => (before.hashes.get(tool) ?? hash) !== hash);
		for (const [tool, hash] of changes.slice(0, MAX_TOLD))
			log.warn('tools.changed', `${server} changed its tool ${tool}: its description, its schema, or both.`, {
				server,
				tool,
				hash_old: before.hashes.get(tool),
				hash_new: hash,
			});
		const rest = changes.length - MAX_TOLD;
		if (rest > 0) log.warn('tools.changed', `${server} changed ${rest} more of its tools.`, {server, rest});
	}

	#failed({message, isTooLarge}: NoToolList): void {
		const {log, server} = this.#options;
		const list = this.#list;
		this.#hasFailed = true;
		if (isTooLarge) {
			this.#isOff = true;
			this.#list = undefined;
			log.warn('tools.too_large', `${server} ${message}; it is not cached.`, {server});
			// It is not what it was, whatever it is.
			if (list) this.#tell(this.#revision + 1);
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
		const served = [...this.#members].filter(member => member.settled(result));
		if (served.length > 0 && result !== undefined) this.#hasServedStale = true;
	}
}
