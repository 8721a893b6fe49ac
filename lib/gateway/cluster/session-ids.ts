import {createHash} from 'node:crypto';
import type {NegotiationSnapshot} from '../../protocol/negotiation.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {MAX_SEALED_LENGTH, Sealer} from './sealer.js';

/** The replica that has a session whose server cannot be reached from another. */
export type SessionOwner = {
	/** Which process it is: one that was started again at the same place has none of the sessions from before. */
	readonly instance: string;
	/** Where others reach it; undefined where they do not. */
	readonly address: string | undefined;
	/** The number of the lease under which it began the session; 0 for none. */
	readonly term: number;
};

/** All that another replica needs to know to carry a conversation on. */
export type PortableState = NegotiationSnapshot & {
	/** Whether the server has tools. */
	readonly hasTools: boolean;
	/** The id that the server gave to the session, if it did. */
	readonly session: string | undefined;
};

/** What the id of a session says to those who can read it. */
export type SessionIdPayload = {
	/** The id that replicas know the session by. */
	readonly id: string;
	readonly place: SessionOwner | PortableState;
};

/** Whose session it is. */
export type ServicePrincipal = {readonly service: string; readonly principal: string};

/** How long an id is good for, since clients are given it but once. */
export const SESSION_ID_LIFETIME_MS = 7 * 24 * 3600 * 1000;
/** How far the clocks of replicas may be apart. */
export const CLOCK_SKEW_MS = 5 * 60 * 1000;
/** Ids that were read lately, and need not be opened again. The oldest is forgotten for the next. */
const MAX_CACHED = 10_000;

type ParsedSessionId = ServicePrincipal & {readonly named: SessionIdPayload; readonly expires: number};

/** Makes and reads the ids of sessions that all replicas understand, and nobody else. */
export class SessionIds {
	readonly #sealer: Sealer;
	readonly #now: () => number;
	readonly #cache = new BoundedMap<string, ParsedSessionId>(MAX_CACHED);

	constructor(secrets: readonly string[], now: () => number = Date.now) {
		this.#sealer = new Sealer(secrets, 'session id');
		this.#now = now;
	}

	/** An id; undefined if it would be too long for a header. */
	create(payload: SessionIdPayload, servicePrincipal: ServicePrincipal): string | undefined {
		const text = JSON.stringify([payload, Math.floor((this.#now() + SESSION_ID_LIFETIME_MS) / 1000)]);
		const id = this.#sealer.seal(text, sealBinding(servicePrincipal));
		return id.length > MAX_SEALED_LENGTH ? undefined : id;
	}

	/** What an id says, if it is one, of this holder, and not too old. */
	parse(id: string, servicePrincipal: ServicePrincipal): SessionIdPayload | undefined {
		const cached = this.#cache.get(id);
		const parsed =
			cached?.service === servicePrincipal.service && cached.principal === servicePrincipal.principal
				? cached
				: this.#open(id, servicePrincipal);
		return parsed && this.#now() < parsed.expires + CLOCK_SKEW_MS ? parsed.named : undefined;
	}

	#open(id: string, servicePrincipal: ServicePrincipal): ParsedSessionId | undefined {
		const text = this.#sealer.unseal(id, sealBinding(servicePrincipal));
		if (text === undefined) return;
		// Only replicas can have written it.
		const [named, seconds] = JSON.parse(text) as [SessionIdPayload, number];
		const read = {...servicePrincipal, named, expires: seconds * 1000};
		this.#cache.set(id, read);
		return read;
	}
}

const sealBinding = ({service, principal}: ServicePrincipal): string =>
	`${service} ${createHash('sha256').update(principal).digest('base64url')}`;
