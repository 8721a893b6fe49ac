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

type ReplicasConfig = {
	readonly secrets: readonly string[];
	/** The address of this replica for the others. */
	readonly advertise: URL | undefined;
	readonly store: URL | undefined;
};

/** Identifies this process: a restarted replica gets another id. */
const instance = randomBytes(9).toString('base64url');

/** The part of a gateway that works together with the other replicas. */
export class Replicas {
	readonly authentication: ForwardAuthentication;
	readonly forwarder: Forwarder;
	/** Returns the shared tool lists of a scope. */
	readonly toolListStoreFor: ReturnType<typeof toolListStoreFor>;
	resumedCount = 0;
	/** Exists even if no store is configured, since one may be configured later. */
	readonly #store: SharedStore;
	readonly #lastSessions: LastSessions;
	readonly #leases: Leases;
	#sessionIds: SessionIds;
	#logins: SharedLogins | undefined;
	readonly #revokedLogins: RevokedIds;
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

	/** Applies new settings. Pending requests and existing sessions continue. */
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

	/** The login state that all replicas share. */
	get logins(): SharedLogins | undefined {
		return this.#logins;
	}

	get store(): SharedStore | undefined {
		return this.#store.url && this.#store;
	}

	/** The most recent sessions of clients; undefined without a store. */
	get lastSessions(): LastSessions | undefined {
		return this.#store.url && this.#lastSessions;
	}

	/** Returns the public id of a session that any replica can resume; undefined if it would be too long. */
	portableId(id: string, servicePrincipal: ServicePrincipal, portable: PortableState): string | undefined {
		return this.#sessionIds.create({id, place: portable}, servicePrincipal);
	}

	/** Returns a public id for something that only this replica has. It is never too long. */
	boundId(id: string, servicePrincipal: ServicePrincipal): string {
		return this.#sessionIds.create({id, place: this.#ownerRecord()}, servicePrincipal) ?? '';
	}

	readSessionId(id: string, servicePrincipal: ServicePrincipal): SessionIdPayload | undefined {
		return this.#sessionIds.parse(id, servicePrincipal);
	}

	/** The event streams of a session in the store; undefined without a store. */
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

	/** Renews the lease if necessary, before this replica acts as an owner. Usually returns undefined. */
	ensureLease(): Promise<void> | undefined {
		return this.#leases.ensureValid();
	}

	/** Calls back when other replicas have declared the sessions of this one lost. */
	onLeaseLost(callback: () => void): void {
		this.#onLeaseLost = callback;
	}

	#handleLeaseLost(log: Log): void {
		const sentence =
			'This replica did not renew its lease in time, so other replicas have reported its sessions as lost. It ends them.';
		log.warn('replica.lease_lost', sentence);
		this.#onLeaseLost();
	}
}
