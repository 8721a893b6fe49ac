import {randomBytes} from 'node:crypto';
import type {Log} from '../../core/log.js';
import {LOGIN_LIFETIME_MS, type SharedLogins} from '../../http/login/login-cookies.js';
import {ForwardAuthentication} from './forward-authentication.js';
import {Forwarder} from './forwarder.js';
import {LastSessions} from './last-sessions.js';
import {Leases} from './leases.js';
import {RevokedIds} from './revoked-ids.js';
import {MultiSecretSealer} from './sealer.js';
import {
	CLOCK_SKEW_MS,
	type PortableState,
	SESSION_ID_LIFETIME_MS,
	type ServicePrincipal,
	type SessionIdPayload,
	SessionIds,
	type SessionOwner,
} from './session-ids.js';
import {SharedEvents} from './shared-events.js';
import {SharedStore} from './shared-store.js';
import {toolListStoreFor} from './shared-tool-lists.js';

/** What a configuration says about them. */
type ReplicasConfig = {
	readonly secrets: readonly string[];
	/** Where the others reach this one. */
	readonly advertise: URL | undefined;
	/** Where they share more than that, if they do. */
	readonly store: URL | undefined;
};

/** Which process this is, among all that there ever were at its place. */
const instance = randomBytes(9).toString('base64url');

/** One of several gateways behind one address, as far as it has to do with the others. */
export class Replicas {
	readonly authentication: ForwardAuthentication;
	readonly forwarder: Forwarder;
	/** Where lists of tools are kept for all, by whose they are. */
	readonly toolListStoreFor: ReturnType<typeof toolListStoreFor>;
	/** How many sessions of others were carried on here. */
	resumedCount = 0;
	/** It is there even where none is configured, since one may be later, and then all goes on with that. */
	readonly #store: SharedStore;
	readonly #lastSessions: LastSessions;
	readonly #leases: Leases;
	#sessionIds: SessionIds;
	#logins: SharedLogins | undefined;
	/** Cookies of browsers that logged out. */
	readonly #revokedLogins: RevokedIds;
	/** Sessions that their clients ended. */
	readonly endedSessions: RevokedIds;
	#address: string | undefined;
	#onLeaseLost: () => void = () => {};

	constructor(log: Log) {
		this.#store = new SharedStore(log);
		this.toolListStoreFor = toolListStoreFor(this.#store);
		this.#lastSessions = new LastSessions(this.#store);
		this.#leases = new Leases(this.#store, instance, () => this.#handleLeaseLost(log));
		this.#revokedLogins = new RevokedIds(this.#store, 'logout', LOGIN_LIFETIME_MS + CLOCK_SKEW_MS);
		this.endedSessions = new RevokedIds(this.#store, 'ended', SESSION_ID_LIFETIME_MS + CLOCK_SKEW_MS);
		this.#sessionIds = new SessionIds([]);
		this.authentication = new ForwardAuthentication([], instance);
		this.forwarder = new Forwarder({authentication: this.authentication, log, leases: this.#leases});
	}

	/** Has to do with the others on these terms from now on. What is under way, and the sessions that there are, go on. */
	async configure({secrets, advertise, store}: ReplicasConfig): Promise<void> {
		this.#address = advertise?.href;
		this.#sessionIds = new SessionIds(secrets);
		this.#logins = {seal: new MultiSecretSealer(secrets, 'logins'), revoked: this.#revokedLogins};
		this.authentication.setSecrets(secrets);
		this.#store.setSecrets(secrets);
		if (store?.href === this.#store.url?.href) return;
		if (this.#store.url) await this.#leases.extendForStoreChange();
		if (store) await this.#store.open(store);
		else this.#store.close();
	}

	/** The seal and the logged-out cookies of all replicas. */
	get logins(): SharedLogins | undefined {
		return this.#logins;
	}

	/** What they share, where they do. */
	get store(): SharedStore | undefined {
		return this.#store.url && this.#store;
	}

	/** Which sessions clients used last, where replicas can tell each other. */
	get lastSessions(): LastSessions | undefined {
		return this.#store.url && this.#lastSessions;
	}

	/** The id that a client is to know a session by that any replica can carry on; undefined if it would be too long. */
	portableId(id: string, servicePrincipal: ServicePrincipal, portable: PortableState): string | undefined {
		return this.#sessionIds.create({id, place: portable}, servicePrincipal);
	}

	/** The id that a client is to know something by that only this replica has. It is never too long. */
	boundId(id: string, servicePrincipal: ServicePrincipal): string {
		return this.#sessionIds.create({id, place: this.#ownerRecord()}, servicePrincipal) ?? '';
	}

	readSessionId(id: string, servicePrincipal: ServicePrincipal): SessionIdPayload | undefined {
		return this.#sessionIds.parse(id, servicePrincipal);
	}

	/** Where the events of a session are kept for others. */
	sharedEventsOf(id: string): SharedEvents | undefined {
		const {store} = this;
		return store && new SharedEvents({store, leases: this.#leases, session: id, instance});
	}

	async close(): Promise<void> {
		await this.#leases.close();
		this.#store.close();
		await this.forwarder.close();
	}

	isSelf(owner: SessionOwner): boolean {
		return owner.instance === instance;
	}

	#ownerRecord(): SessionOwner {
		return {instance, address: this.#address, term: this.store ? this.#leases.term : 0};
	}

	/** What has to be waited for before anything is done here for a session; mostly nothing. */
	ensureLease(): Promise<void> | undefined {
		return this.#leases.ensureValid();
	}

	/** Has this done whenever others have taken the sessions of this replica for lost. */
	onLeaseLost(callback: () => void): void {
		this.#onLeaseLost = callback;
	}

	#handleLeaseLost(log: Log): void {
		const sentence =
			'This replica was silent for so long that others have told its clients that their sessions are lost; it ends them.';
		log.warn('replica.lease_lost', sentence);
		this.#onLeaseLost();
	}
}
