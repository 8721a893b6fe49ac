import {randomBytes} from 'node:crypto';
import {LOGIN_MS, type SharedLogins} from '../gateway/login-cookies.js';
import type {Log} from '../log.js';
import {Forwarder} from './forwarder.js';
import {Hop} from './hop.js';
import {LastSessions} from './last-sessions.js';
import {Owners} from './owners.js';
import {Revoked} from './revoked.js';
import {CommonSeal} from './seal.js';
import {
	type Holder,
	LIFETIME_MS,
	type Named,
	type Owner,
	type Portable,
	SessionIds,
	SKEW_MS,
} from './session-ids.js';
import {SharedEvents} from './shared-events.js';
import {Store} from './store.js';
import {shelfFor} from './tool-shelves.js';

/** What a configuration says about them. */
export type Terms = {
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
	readonly hop: Hop;
	readonly forwarder: Forwarder;
	/** Where lists of tools are kept for all, by whose they are. */
	readonly shelfFor: ReturnType<typeof shelfFor>;
	/** How many sessions of others were carried on here. */
	resumed = 0;
	/** It is there even where none is configured, since one may be later, and then all goes on with that. */
	readonly #store: Store;
	readonly #lastSessions: LastSessions;
	readonly #owners: Owners;
	#ids: SessionIds;
	#logins: SharedLogins | undefined;
	/** Cookies of browsers that logged out. */
	readonly #loggedOut: Revoked;
	/** Sessions that their clients ended. */
	readonly ended: Revoked;
	#address: string | undefined;
	#onLost: () => void = () => {};

	constructor(log: Log) {
		this.#store = new Store(log);
		this.shelfFor = shelfFor(this.#store);
		this.#lastSessions = new LastSessions(this.#store);
		this.#owners = new Owners(this.#store, instance, () => this.#lost(log));
		this.#loggedOut = new Revoked(this.#store, 'logout', LOGIN_MS + SKEW_MS);
		this.ended = new Revoked(this.#store, 'ended', LIFETIME_MS + SKEW_MS);
		this.#ids = new SessionIds([]);
		this.hop = new Hop([], instance);
		this.forwarder = new Forwarder({hop: this.hop, log, owners: this.#owners});
	}

	/** Has to do with the others on these terms from now on. What is under way, and the sessions that there are, go on. */
	async agree({secrets, advertise, store}: Terms): Promise<void> {
		this.#address = advertise?.href;
		this.#ids = new SessionIds(secrets);
		this.#logins = {seal: new CommonSeal(secrets, 'logins'), loggedOut: this.#loggedOut};
		this.hop.use(secrets);
		this.#store.use(secrets);
		if (store?.href === this.#store.url?.href) return;
		if (this.#store.url) await this.#owners.lingering();
		if (store) await this.#store.open(store);
		else this.#store.close();
	}

	/** The seal and the logged-out cookies of all replicas. */
	get logins(): SharedLogins | undefined {
		return this.#logins;
	}

	/** What they share, where they do. */
	get store(): Store | undefined {
		return this.#store.url && this.#store;
	}

	/** Which sessions clients used last, where replicas can tell each other. */
	get lastSessions(): LastSessions | undefined {
		return this.#store.url && this.#lastSessions;
	}

	/** The id that a client is to know a session by that any replica can carry on; undefined if it would be too long. */
	portableId(id: string, holder: Holder, portable: Portable): string | undefined {
		return this.#ids.make({id, place: portable}, holder);
	}

	/** The id that a client is to know something by that only this replica has. It is never too long. */
	ownId(id: string, holder: Holder): string {
		return this.#ids.make({id, place: this.#self()}, holder) ?? '';
	}

	read(id: string, holder: Holder): Named | undefined {
		return this.#ids.read(id, holder);
	}

	/** Where the events of a session are kept for others. */
	eventsOf(id: string): SharedEvents | undefined {
		const {store} = this;
		return store && new SharedEvents({store, owners: this.#owners, session: id, instance});
	}

	async close(): Promise<void> {
		await this.#owners.close();
		this.#store.close();
		await this.forwarder.close();
	}

	isSelf(owner: Owner): boolean {
		return owner.instance === instance;
	}

	#self(): Owner {
		return {instance, address: this.#address, term: this.store ? this.#owners.term : 0};
	}

	/** What has to be waited for before anything is done here for a session; mostly nothing. */
	confirmed(): Promise<void> | undefined {
		return this.#owners.confirmed();
	}

	/** Has this done whenever others have taken the sessions of this replica for lost. */
	whenLost(proceed: () => void): void {
		this.#onLost = proceed;
	}

	#lost(log: Log): void {
		const sentence =
			'This replica was silent for so long that others have told its clients that their sessions are lost; it ends them.';
		log.warn('replica.lease_lost', sentence);
		this.#onLost();
	}
}
