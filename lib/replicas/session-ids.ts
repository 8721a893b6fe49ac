import {createHash} from 'node:crypto';
import {BoundedMap} from '../bounded-map.js';
import type {Standing} from '../protocol/session.js';
import {MAX_SEALED, Seal} from './seal.js';

/** The replica that has a session whose server cannot be reached from another. */
export type Owner = {
	/** Which process it is: one that was started again at the same place has none of the sessions from before. */
	readonly instance: string;
	/** Where others reach it; undefined where they do not. */
	readonly address: string | undefined;
	/** The number of the lease under which it began the session; 0 for none. */
	readonly term: number;
};

/** All that another replica needs to know to carry a conversation on. */
export type Portable = Standing & {
	/** Whether the server has tools. */
	readonly hasTools: boolean;
	/** The id that the server gave to the session, if it did. */
	readonly session: string | undefined;
};

/** What the id of a session says to those who can read it. */
export type Named = {
	/** The id that replicas know the session by. */
	readonly id: string;
	readonly place: Owner | Portable;
};

/** Whose session it is. */
export type Holder = {readonly service: string; readonly principal: string};

/** How long an id is good for, since clients are given it but once. */
export const LIFETIME_MS = 7 * 24 * 3600 * 1000;
/** How far the clocks of replicas may be apart. */
export const SKEW_MS = 5 * 60 * 1000;
/** Ids that were read lately, and need not be opened again. The oldest is forgotten for the next. */
const MAX_READ = 10_000;

type Read = Holder & {readonly named: Named; readonly expires: number};

/** Makes and reads the ids of sessions that all replicas understand, and nobody else. */
export class SessionIds {
	readonly #seal: Seal;
	readonly #now: () => number;
	readonly #read = new BoundedMap<string, Read>(MAX_READ);

	constructor(secrets: readonly string[], now: () => number = Date.now) {
		this.#seal = new Seal(secrets, 'session id');
		this.#now = now;
	}

	/** An id; undefined if it would be too long for a header. */
	make(named: Named, holder: Holder): string | undefined {
		const text = JSON.stringify([named, Math.floor((this.#now() + LIFETIME_MS) / 1000)]);
		const id = this.#seal.close(text, boundTo(holder));
		return id.length > MAX_SEALED ? undefined : id;
	}

	/** What an id says, if it is one, of this holder, and not too old. */
	read(id: string, holder: Holder): Named | undefined {
		const known = this.#read.get(id);
		const read =
			known?.service === holder.service && known.principal === holder.principal
				? known
				: this.#open(id, holder);
		return read && this.#now() < read.expires + SKEW_MS ? read.named : undefined;
	}

	#open(id: string, holder: Holder): Read | undefined {
		const text = this.#seal.open(id, boundTo(holder));
		if (text === undefined) return;
		// Only replicas can have written it.
		const [named, seconds] = JSON.parse(text) as [Named, number];
		const read = {...holder, named, expires: seconds * 1000};
		this.#read.set(id, read);
		return read;
	}
}

const boundTo = ({service, principal}: Holder): string =>
	`${service} ${createHash('sha256').update(principal).digest('base64url')}`;
