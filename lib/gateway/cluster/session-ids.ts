import {createHash} from 'node:crypto';
import type {NegotiationSnapshot} from '../../protocol/negotiation.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {MAX_SEALED_LENGTH, Sealer} from './sealer.js';

/** The replica that owns a session whose upstream no other replica can reach. */
export type SessionOwner = {
	/** Identifies the process: after a restart, it has none of its earlier sessions. */
	readonly instance: string;
	/** The address for other replicas; undefined if they cannot reach it. */
	readonly address: string | undefined;
	/** The number of the lease under which the session started; 0 for none. */
	readonly term: number;
};

/** The state that another replica needs to resume a conversation. */
export type PortableState = NegotiationSnapshot & {
	readonly hasTools: boolean;
	readonly session: string | undefined;
};

/** The sealed content of a session id. */
export type SessionIdPayload = {
	/** The internal id of the session, which all replicas use. */
	readonly id: string;
	readonly place: SessionOwner | PortableState;
};

export type ServicePrincipal = {readonly service: string; readonly principal: string};

/** How long an id is valid. Clients do not get a new one while their session lasts. */
export const SESSION_ID_LIFETIME_MS = 7 * 24 * 3600 * 1000;
export const CLOCK_SKEW_MS = 5 * 60 * 1000;
/** Parsed ids that are cached. The oldest is evicted. */
const MAX_CACHED = 10_000;

type ParsedSessionId = ServicePrincipal & {readonly payload: SessionIdPayload; readonly expiresAt: number};

/** Creates and parses session ids that only replicas can read. */
export class SessionIds {
	readonly #sealer: Sealer;
	readonly #now: () => number;
	readonly #cache = new BoundedMap<string, ParsedSessionId>(MAX_CACHED);

	constructor(secrets: readonly string[], now: () => number = Date.now) {
		this.#sealer = new Sealer(secrets, 'session id');
		this.#now = now;
	}

	/** Returns an id; undefined if it would be too long for a header. */
	create(payload: SessionIdPayload, servicePrincipal: ServicePrincipal): string | undefined {
		const text = JSON.stringify([payload, Math.floor((this.#now() + SESSION_ID_LIFETIME_MS) / 1000)]);
		const id = this.#sealer.seal(text, sealBinding(servicePrincipal));
		return id.length > MAX_SEALED_LENGTH ? undefined : id;
	}

	/** Returns the content of an id, if it is valid for this service and principal, and has not expired. */
	parse(id: string, servicePrincipal: ServicePrincipal): SessionIdPayload | undefined {
		const cached = this.#cache.get(id);
		const parsed =
			cached?.service === servicePrincipal.service && cached.principal === servicePrincipal.principal
				? cached
				: this.#open(id, servicePrincipal);
		return parsed && this.#now() < parsed.expiresAt + CLOCK_SKEW_MS ? parsed.payload : undefined;
	}

	#open(id: string, servicePrincipal: ServicePrincipal): ParsedSessionId | undefined {
		const text = this.#sealer.unseal(id, sealBinding(servicePrincipal));
		if (text === undefined) return;
		// The seal proves that a replica wrote it.
		const [payload, seconds] = JSON.parse(text) as [SessionIdPayload, number];
		const parsed = {...servicePrincipal, payload, expiresAt: seconds * 1000};
		this.#cache.set(id, parsed);
		return parsed;
	}
}

const sealBinding = ({service, principal}: ServicePrincipal): string =>
	`${service} ${createHash('sha256').update(principal).digest('base64url')}`;
