import {randomBytes} from 'node:crypto';
import type {Log} from '../log.js';
import {Forwarder} from './forwarder.js';
import {Hop} from './hop.js';
import {Leases} from './lease.js';
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
	/** How many sessions of others were carried on here. */
	resumed = 0;
	readonly #leases: Leases | undefined;
	readonly #ids: SessionIds;
	readonly #self: Owner;

	constructor({secrets, advertise, log, store}: ReplicasOptions) {
		this.store = store;
		this.#leases = store && new Leases(store, instance);
		this.#ids = new SessionIds(secrets);
		this.hop = new Hop(secrets);
		this.forwarder = new Forwarder(this.hop, log);
		this.#self = {instance, address: advertise?.href};
	}

	/** The id that a client is to know a session by. One that cannot be carried on elsewhere names this replica. */
	idFor(id: string, holder: Holder, portable: Portable | undefined): string {
		const everywhere = portable && this.#ids.make({id, place: portable}, holder);
		// That of an owner is never too long.
		return everywhere ?? this.#ids.make({id, place: this.#self}, holder) ?? '';
	}

	read(id: string, holder: Holder): Named | undefined {
		return this.#ids.read(id, holder);
	}

	/** Where the events of a session are kept for others. */
	eventsOf(id: string): SharedEvents | undefined {
		const {store} = this;
		const leases = this.#leases;
		return store && leases && new SharedEvents({store, leases, session: id, instance});
	}

	async close(): Promise<void> {
		this.#leases?.close();
		this.store?.close();
		await this.forwarder.close();
	}

	isSelf({instance}: Owner): boolean {
		return instance === this.#self.instance;
	}
}
