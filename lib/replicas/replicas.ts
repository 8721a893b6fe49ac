import {randomBytes} from 'node:crypto';
import type {Log} from '../log.js';
import {Forwarder} from './forwarder.js';
import {Hop} from './hop.js';
import {LastSessions} from './last-sessions.js';
import {Owners} from './owners.js';
import {Seal} from './seal.js';
import {type Holder, type Named, type Owner, type Portable, SessionIds} from './session-ids.js';
import {SharedEvents} from './shared-events.js';
import type {Store} from './store.js';

export type ReplicasOptions = {
	readonly secrets: readonly string[];
	/** Where the others reach this one. */
	readonly advertise: URL | undefined;
	readonly log: Log;
	/** What they share beyond that, if anything. */
	readonly store?: Store | undefined;
};

/** Which process this is, among all that there ever were at its place. */
const instance = randomBytes(9).toString('base64url');

/** One of several gateways behind one address, as far as it has to do with the others. */
export class Replicas {
	readonly hop: Hop;
	readonly forwarder: Forwarder;
	readonly store: Store | undefined;
	/** For what browsers show once they are logged in. */
	readonly logins: Seal;
	/** Which sessions clients used last, where replicas can tell each other. */
	readonly lastSessions: LastSessions | undefined;
	/** How many sessions of others were carried on here. */
	resumed = 0;
	readonly #owners: Owners | undefined;
	readonly #ids: SessionIds;
	readonly #address: string | undefined;
	#onLost: () => void = () => {};

	constructor({secrets, advertise, log, store}: ReplicasOptions) {
		this.store = store;
		this.lastSessions = store && new LastSessions(store);
		this.#owners = store && new Owners(store, instance, () => this.#lost(log));
		this.#ids = new SessionIds(secrets);
		this.hop = new Hop(secrets, instance);
		this.logins = new Seal(secrets, 'logins');
		this.forwarder = new Forwarder({hop: this.hop, log, owners: this.#owners});
		this.#address = advertise?.href;
	}

	/** The id that a client is to know a session by. One that cannot be carried on elsewhere names this replica. */
	idFor(id: string, holder: Holder, portable: Portable | undefined): string {
		const everywhere = portable && this.#ids.make({id, place: portable}, holder);
		// That of an owner is never too long.
		return everywhere ?? this.#ids.make({id, place: this.#self()}, holder) ?? '';
	}

	read(id: string, holder: Holder): Named | undefined {
		return this.#ids.read(id, holder);
	}

	/** Where the events of a session are kept for others. */
	eventsOf(id: string): SharedEvents | undefined {
		const {store} = this;
		const owners = this.#owners;
		return store && owners && new SharedEvents({store, owners, session: id, instance});
	}

	async close(): Promise<void> {
		await this.#owners?.close();
		this.store?.close();
		await this.forwarder.close();
	}

	isSelf(owner: Owner): boolean {
		return owner.instance === instance;
	}

	#self(): Owner {
		return {instance, address: this.#address, term: this.#owners?.term ?? 0};
	}

	/** What has to be waited for before anything is done here for a session; mostly nothing. */
	confirmed(): Promise<void> | undefined {
		return this.#owners?.confirmed();
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
