import {performance} from 'node:perf_hooks';
import {BoundedMap} from '../bounded-map.js';
import {LIFETIME_MS, type Owner} from './session-ids.js';
import type {Store} from './store.js';

/** How long a replica that says nothing is taken to be there. */
const LEASE_MS = 6000;
const RENEWED_MS = 2000;
/** How long it may take until all replicas have gone to another store, by which none of them is to lose its sessions. */
const MOVING_MS = 10 * 60_000;
/** How long what was seen of another replica holds good: so seldom is the store asked, however many requests go there. */
const SEEN_MS = 1000;
/** Replicas that were looked for. The oldest is forgotten for the next. */
const MAX_SEEN = 1000;
/** What stands in a lease that was taken from who held it. Terms begin with 1. */
const NOBODY = '0';

/** A lease is kept by who holds it, or taken back by who let it run out unseen; not by who lost it. One key, for clusters. */
const RENEW = `local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`;

/** Who holds a lease. */
export type Tenant = Pick<Owner, 'instance' | 'term'>;

type Seen = {readonly isGone: Promise<boolean>; readonly until: number};

/**
 * Which replicas may act as owners of the sessions that only they can serve: those that hold a lease in the store.
 *
 * A lease has a number, higher than all before it, that is in the ids of the sessions begun under it. One lease does for all
 * of them, so it costs the same to keep one session and a thousand. Whoever finds that the lease of another has run out
 * takes it away for good before it tells anybody, so that a replica which was only paused cannot go on with sessions that
 * others have declared lost.
 */
export class Owners {
	readonly #store: Store;
	readonly #instance: string;
	readonly #onLost: () => void;
	readonly #timer: NodeJS.Timeout;
	readonly #seen = new BoundedMap<string, Seen>(MAX_SEEN);
	#term = 0;
	/** Until when nobody can have taken the lease, by both clocks: one is set at times, the other stands still in sleep. */
	#heldUntil = {steady: 0, wall: 0};
	#renewal: Promise<void> | undefined;
	#leaseMs = LEASE_MS;
	/** Until when others may still have their leases where the store was before. */
	#movingUntil = 0;

	/** `onLost` is called when others have taken the sessions of this replica for lost. */
	constructor(store: Store, instance: string, onLost: () => void) {
		this.#store = store;
		this.#instance = instance;
		this.#onLost = onLost;
		this.#timer = setInterval(() => void this.#renew(), RENEWED_MS).unref();
		store.whenUp(() => void this.#renew());
	}

	/** The number of the lease that is held here; 0 while there is none. */
	get term(): number {
		return this.#term;
	}

	/** What has to be waited for before this replica acts as the owner of anything: nothing, as long as its lease is good. */
	confirmed(): Promise<void> | undefined {
		const {steady, wall} = this.#heldUntil;
		const isGood = this.#term === 0 || (performance.now() < steady && Date.now() < wall);
		return isGood ? undefined : this.#renew();
	}

	/**
	 * Whether a replica has lost its lease. A store that was away itself can tell so only after a while, and of those that
	 * had no store when they began never.
	 */
	async isGone(tenant: Tenant): Promise<boolean> {
		const {upSince} = this.#store;
		const now = performance.now();
		if (tenant.term === 0 || upSince === undefined || now - upSince < LEASE_MS) return false;
		if (now < this.#movingUntil) return false;
		const key = this.#keyOf(tenant);
		const seen = this.#seen.get(key);
		if (seen && now < seen.until) return seen.isGone;
		const isGone = this.#look(key, tenant);
		this.#seen.set(key, {isGone, until: now + SEEN_MS});
		// It does not come back.
		if (await isGone) this.#seen.set(key, {isGone, until: Number.POSITIVE_INFINITY});
		return isGone;
	}

	async #look(key: string, {term}: Tenant): Promise<boolean> {
		const held = await this.#store.ask(redis => redis.get(key));
		if (held === undefined) return false;
		if (held !== null) return held !== String(term);
		const taken = await this.#store.ask(redis => redis.set(key, NOBODY, 'PX', LIFETIME_MS, 'NX'));
		// Who has just come back, or was declared gone by another.
		return taken === 'OK' || (await this.#store.ask(redis => redis.get(key))) === NOBODY;
	}

	#renew(): Promise<void> {
		this.#renewal ??= this.#renewed().finally(() => {
			this.#renewal = undefined;
		});
		return this.#renewal;
	}

	async #renewed(): Promise<void> {
		if (this.#term === 0) return this.#begin();
		const until = leaseFrom();
		const [key, term] = [this.#keyOf({instance: this.#instance, term: this.#term}), this.#term];
		const isHeld = await this.#store.ask(redis => redis.eval(RENEW, 1, key, term, this.#leaseMs));
		if (isHeld === 1) this.#heldUntil = until;
		if (isHeld !== 0) return;
		this.#term = 0;
		this.#onLost();
		await this.#begin();
	}

	/** Takes a lease with a number of its own. */
	async #begin(): Promise<void> {
		const until = leaseFrom();
		const term = await this.#store.ask(redis => redis.incr(this.#store.key('fence')));
		if (term === undefined) return;
		const key = this.#keyOf({instance: this.#instance, term});
		const taken = await this.#store.ask(redis => redis.set(key, term, 'PX', this.#leaseMs, 'NX'));
		if (taken !== 'OK') return;
		this.#term = term;
		this.#heldUntil = until;
	}

	#keyOf({instance, term}: Tenant): string {
		return this.#store.key('owner', this.#store.nameOfRandom('owner', instance, String(term)));
	}

	/** All are about to go to another store, where the lease lives on. Who is not there yet still finds it in this one. */
	async lingering(): Promise<void> {
		this.#leaseMs = MOVING_MS;
		await this.#renewal;
		await this.#renew();
		this.#leaseMs = LEASE_MS;
		this.#movingUntil = performance.now() + MOVING_MS;
	}

	/** Gives the lease back, so that nobody has to wait for its end. */
	async close(): Promise<void> {
		clearInterval(this.#timer);
		await this.#renewal;
		const [key, term] = [this.#keyOf({instance: this.#instance, term: this.#term}), this.#term];
		if (term !== 0) await this.#store.ask(redis => redis.eval(RELEASE, 1, key, term));
	}
}

const leaseFrom = () => ({steady: performance.now() + LEASE_MS, wall: Date.now() + LEASE_MS});
