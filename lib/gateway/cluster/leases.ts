import {performance} from 'node:perf_hooks';
import {BoundedMap} from '../../util/bounded-map.js';
import {SESSION_ID_LIFETIME_MS, type SessionOwner} from './session-ids.js';
import type {SharedStore} from './shared-store.js';

const LEASE_MS = 6000;
const RENEW_INTERVAL_MS = 2000;
/** How long the replicas may take to change to another store. No lease is revoked during this time. */
const STORE_CHANGE_MS = 10 * 60_000;
/** How long the result of a lease check is cached, however many requests are forwarded. */
const CHECK_CACHE_MS = 1000;
/** Cached lease checks. The oldest is evicted. */
const MAX_CHECKED = 1000;
/** The value of a revoked lease. Terms start at 1. */
const REVOKED = '0';

/**
 * Renews a lease that is valid, or that has expired and was not revoked. Uses one key, as clusters require.
 */
const RENEW_SCRIPT = `local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;
const RELEASE_SCRIPT = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`;

type LeaseId = Pick<SessionOwner, 'instance' | 'term'>;

type LeaseCheck = {readonly isLost: Promise<boolean>; readonly expiresAt: number};

/**
 * Leases decide which replicas may act as owners of the sessions that only they can serve.
 *
 * A lease has a number, higher than all before it, that is in the ids of the sessions started under it. A
 * replica has one lease for all its sessions, so the cost does not grow with their number. A replica that
 * finds an expired lease revokes it permanently before it reports the owner as lost. A replica that was only
 * paused therefore cannot continue with sessions that others have declared lost.
 */
export class Leases {
	readonly #store: SharedStore;
	readonly #instance: string;
	readonly #onLost: () => void;
	readonly #timer: NodeJS.Timeout;
	readonly #checks = new BoundedMap<string, LeaseCheck>(MAX_CHECKED);
	#term = 0;
	/**
	 * Until when the lease cannot have been revoked, by both clocks: the system clock may be changed, and the
	 * monotonic clock stops while the system is suspended.
	 */
	#validUntil = {steady: 0, wall: 0};
	#renewal: Promise<void> | undefined;
	#leaseMs = LEASE_MS;
	/** Until when other replicas may still hold leases in the previous store. */
	#storeChangeUntil = 0;

	/** Calls `onLost` when other replicas have declared the sessions of this one lost. */
	constructor(store: SharedStore, instance: string, onLost: () => void) {
		this.#store = store;
		this.#instance = instance;
		this.#onLost = onLost;
		this.#timer = setInterval(() => void this.#renew(), RENEW_INTERVAL_MS).unref();
		store.onUp(() => void this.#renew());
	}

	/** The number of the current lease; 0 for none. */
	get term(): number {
		return this.#term;
	}

	/**
	 * Renews the lease if it may have expired, before this replica acts as an owner. Returns undefined if it
	 * is valid.
	 */
	ensureValid(): Promise<void> | undefined {
		const {steady, wall} = this.#validUntil;
		const isValid = this.#term === 0 || (performance.now() < steady && Date.now() < wall);
		return isValid ? undefined : this.#renew();
	}

	/**
	 * Whether a replica has lost its lease. Never true for replicas that started without a store, nor shortly
	 * after the store became reachable.
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
		// A lost lease stays lost.
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
		// Otherwise the owner has just renewed its lease, or another replica has revoked it.
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
		const renewed = await this.#store.run(redis => redis.eval(RENEW_SCRIPT, 1, key, term, this.#leaseMs));
		if (renewed === 1) this.#validUntil = until;
		if (renewed !== 0) return;
		this.#term = 0;
		this.#onLost();
		await this.#acquire();
	}

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

	/**
	 * Extends the lease before all replicas change to another store, where it continues. Replicas that have
	 * not changed yet still find it here.
	 */
	async extendForStoreChange(): Promise<void> {
		this.#leaseMs = STORE_CHANGE_MS;
		await this.#renewal;
		await this.#renew();
		this.#leaseMs = LEASE_MS;
		this.#storeChangeUntil = performance.now() + STORE_CHANGE_MS;
	}

	/** Releases the lease, so that other replicas do not have to wait until it expires. */
	async close(): Promise<void> {
		clearInterval(this.#timer);
		await this.#renewal;
		const [key, term] = [this.#keyOf({instance: this.#instance, term: this.#term}), this.#term];
		if (term !== 0) await this.#store.run(redis => redis.eval(RELEASE_SCRIPT, 1, key, term));
	}
}

const leaseExpiry = () => ({steady: performance.now() + LEASE_MS, wall: Date.now() + LEASE_MS});
