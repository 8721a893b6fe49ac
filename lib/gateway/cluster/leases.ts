import {performance} from 'node:perf_hooks';
import {BoundedMap} from '../../util/bounded-map.js';
import {SESSION_ID_LIFETIME_MS, type SessionOwner} from './session-ids.js';
import type {SharedStore} from './shared-store.js';

/** How long a replica that says nothing is taken to be there. */
const LEASE_MS = 6000;
const RENEW_INTERVAL_MS = 2000;
/** How long it may take until all replicas have gone to another store, by which none of them is to lose its sessions. */
const STORE_CHANGE_MS = 10 * 60_000;
/** How long what was seen of another replica holds good: so seldom is the store asked, however many requests go there. */
const CHECK_CACHE_MS = 1000;
/** Replicas that were looked for. The oldest is forgotten for the next. */
const MAX_CHECKED = 1000;
/** What stands in a lease that was taken from who held it. Terms begin with 1. */
const REVOKED = '0';

/** A lease is kept by who holds it, or taken back by who let it run out unseen; not by who lost it. One key, for clusters. */
const RENEW_SCRIPT = `local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;
const RELEASE_SCRIPT = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`;

/** Who holds a lease. */
type LeaseId = Pick<SessionOwner, 'instance' | 'term'>;

type LeaseCheck = {readonly isLost: Promise<boolean>; readonly expiresAt: number};

/**
 * Which replicas may act as owners of the sessions that only they can serve: those that hold a lease in the store.
 *
 * A lease has a number, higher than all before it, that is in the ids of the sessions begun under it. One lease does for all
 * of them, so it costs the same to keep one session and a thousand. Whoever finds that the lease of another has run out
 * takes it away for good before it tells anybody, so that a replica which was only paused cannot go on with sessions that
 * others have declared lost.
 */
export class Leases {
	readonly #store: SharedStore;
	readonly #instance: string;
	readonly #onLost: () => void;
	readonly #timer: NodeJS.Timeout;
	readonly #checks = new BoundedMap<string, LeaseCheck>(MAX_CHECKED);
	#term = 0;
	/** Until when nobody can have taken the lease, by both clocks: one is set at times, the other stands still in sleep. */
	#validUntil = {steady: 0, wall: 0};
	#renewal: Promise<void> | undefined;
	#leaseMs = LEASE_MS;
	/** Until when others may still have their leases where the store was before. */
	#storeChangeUntil = 0;

	/** `onLost` is called when others have taken the sessions of this replica for lost. */
	constructor(store: SharedStore, instance: string, onLost: () => void) {
		this.#store = store;
		this.#instance = instance;
		this.#onLost = onLost;
		this.#timer = setInterval(() => void this.#renew(), RENEW_INTERVAL_MS).unref();
		store.onUp(() => void this.#renew());
	}

	/** The number of the lease that is held here; 0 while there is none. */
	get term(): number {
		return this.#term;
	}

	/** What has to be waited for before this replica acts as the owner of anything: nothing, as long as its lease is good. */
	ensureValid(): Promise<void> | undefined {
		const {steady, wall} = this.#validUntil;
		const isGood = this.#term === 0 || (performance.now() < steady && Date.now() < wall);
		return isGood ? undefined : this.#renew();
	}

	/**
	 * Whether a replica has lost its lease. A store that was away itself can tell so only after a while, and of those that
	 * had no store when they began never.
	 */
	async isLost(lease: LeaseId): Promise<boolean> {
		const {upSince} = this.#store;
		const now = performance.now();
		if (lease.term === 0 || upSince === undefined || now - upSince < LEASE_MS) return false;
		if (now < this.#storeChangeUntil) return false;
		const key = this.#keyOf(lease);
		const check = this.#checks.get(key);
		if (check && now < check.expiresAt) return check.isLost;
		const isLost = this.#check(key, lease);
		this.#checks.set(key, {isLost, expiresAt: now + CHECK_CACHE_MS});
		// It does not come back.
		if (await isLost) this.#checks.set(key, {isLost, expiresAt: Number.POSITIVE_INFINITY});
		return isLost;
	}

	async #check(key: string, {term}: LeaseId): Promise<boolean> {
		const current = await this.#store.run(redis => redis.get(key));
		if (current === undefined) return false;
		if (current !== null) return current !== String(term);
		const revoked = await this.#store.run(redis =>
			redis.set(key, REVOKED, 'PX', SESSION_ID_LIFETIME_MS, 'NX'),
		);
		// Who has just come back, or was declared gone by another.
		return revoked === 'OK' || (await this.#store.run(redis => redis.get(key))) === REVOKED;
	}

	#renew(): Promise<void> {
		this.#renewal ??= this.#renewOnce().finally(() => {
			this.#renewal = undefined;
		});
		return this.#renewal;
	}

	async #renewOnce(): Promise<void> {
		if (this.#term === 0) return this.#acquire();
		const until = leaseExpiry();
		const [key, term] = [this.#keyOf({instance: this.#instance, term: this.#term}), this.#term];
		const isHeld = await this.#store.run(redis => redis.eval(RENEW_SCRIPT, 1, key, term, this.#leaseMs));
		if (isHeld === 1) this.#validUntil = until;
		if (isHeld !== 0) return;
		this.#term = 0;
		this.#onLost();
		await this.#acquire();
	}

	/** Takes a lease with a number of its own. */
	async #acquire(): Promise<void> {
		const until = leaseExpiry();
		const term = await this.#store.run(redis => redis.incr(this.#store.key('fence')));
		if (term === undefined) return;
		const key = this.#keyOf({instance: this.#instance, term});
		const acquired = await this.#store.run(redis => redis.set(key, term, 'PX', this.#leaseMs, 'NX'));
		if (acquired !== 'OK') return;
		this.#term = term;
		this.#validUntil = until;
	}

	#keyOf({instance, term}: LeaseId): string {
		return this.#store.key('owner', this.#store.hashedName('owner', instance, String(term)));
	}

	/** All are about to go to another store, where the lease lives on. Who is not there yet still finds it in this one. */
	async extendForStoreChange(): Promise<void> {
		this.#leaseMs = STORE_CHANGE_MS;
		await this.#renewal;
		await this.#renew();
		this.#leaseMs = LEASE_MS;
		this.#storeChangeUntil = performance.now() + STORE_CHANGE_MS;
	}

	/** Gives the lease back, so that nobody has to wait for its end. */
	async close(): Promise<void> {
		clearInterval(this.#timer);
		await this.#renewal;
		const [key, term] = [this.#keyOf({instance: this.#instance, term: this.#term}), this.#term];
		if (term !== 0) await this.#store.run(redis => redis.eval(RELEASE_SCRIPT, 1, key, term));
	}
}

const leaseExpiry = () => ({steady: performance.now() + LEASE_MS, wall: Date.now() + LEASE_MS});
