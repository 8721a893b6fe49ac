import {performance} from 'node:perf_hooks';
import {BoundedMap} from '../util/bounded-map.js';
import type {RateLimit} from '../util/units.js';
import type {SharedStore} from './cluster/shared-store.js';

type PrincipalRateLimiterOptions = {
	/** The rate limit of one principal, if there is one. It may change. */
	readonly limit: () => RateLimit | undefined;
	/** The store in which replicas share the budget, if there is one. */
	readonly store: () => SharedStore | undefined;
};

/** Principals whose requests are counted. The oldest is evicted. */
const MAX_COUNTED_KEYS = 10_000;
/** A replica acquires 1/20 of the budget at a time, so that little of it stays unused. */
const SLICES = 20;

/**
 * Grants a slice of the remaining budget. The window starts with its first request. Uses one key, as clusters
 * require.
 */
const GRANT_SCRIPT = `local left = tonumber(ARGV[1]) - tonumber(redis.call('GET', KEYS[1]) or '0')
local granted = math.max(0, math.min(left, tonumber(ARGV[2])))
if granted > 0 then redis.call('INCRBY', KEYS[1], granted) end
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return {granted, redis.call('PTTL', KEYS[1])}`;

type Allowance = {
	readonly limit: RateLimit;
	remaining: number;
	granted: number;
	/** The end of the window, by the monotonic clock. */
	windowEndsAt: number;
	/** Whether the budget is used up, so that no slice is requested until the next window. */
	isExhausted: boolean;
	pendingGrant: Promise<void> | undefined;
};

/**
 * Limits the request rate of principals. Replicas with a store acquire slices of a shared budget, so that few
 * requests wait for the store. Without a reachable store, each replica counts for itself.
 */
export class PrincipalRateLimiter {
	readonly #options: PrincipalRateLimiterOptions;
	readonly #allowances = new BoundedMap<string, Allowance>(MAX_COUNTED_KEYS);

	constructor(options: PrincipalRateLimiterOptions) {
		this.#options = options;
	}

	get isEnabled(): boolean {
		return this.#options.limit() !== undefined;
	}

	/**
	 * Counts a request. Returns the milliseconds to wait before the next attempt; 0 if the request is allowed.
	 */
	take(key: string): number | Promise<number> {
		const limit = this.#options.limit();
		if (!limit) return 0;
		const allowance = this.#allowanceOf(key, limit);
		const now = performance.now();
		if (now >= allowance.windowEndsAt) {
			const windowEndsAt = now + limit.windowMs;
			Object.assign(allowance, {remaining: 0, granted: 0, isExhausted: false, windowEndsAt});
		}
		if (allowance.remaining === 0 && !allowance.isExhausted) {
			const store = this.#options.store();
			if (store?.isUp) return this.#requestSlice(store, key, allowance).then(() => this.take(key));
			grantLocalSlice(allowance);
		}
		if (allowance.remaining === 0) return Math.max(1, allowance.windowEndsAt - now);
		allowance.remaining--;
		return 0;
	}

	#allowanceOf(key: string, limit: RateLimit): Allowance {
		const existing = this.#allowances.get(key);
		if (existing?.limit === limit) return existing;
		const fresh: Allowance = {
			limit,
			remaining: 0,
			granted: 0,
			windowEndsAt: 0,
			isExhausted: false,
			pendingGrant: undefined,
		};
		this.#allowances.set(key, fresh);
		return fresh;
	}

	/** Requests a slice, once for all waiting requests. */
	#requestSlice(store: SharedStore, rateKey: string, allowance: Allowance): Promise<void> {
		allowance.pendingGrant ??= this.#requestGrant(store, rateKey, allowance).finally(() => {
			allowance.pendingGrant = undefined;
		});
		return allowance.pendingGrant;
	}

	async #requestGrant(store: SharedStore, rateKey: string, allowance: Allowance): Promise<void> {
		const {count, windowMs} = allowance.limit;
		const [name] = store.blindedNames('rate', `${count}/${windowMs}`, rateKey);
		const key = store.key('rate', name);
		const reply = await store.run(redis =>
			redis.eval(GRANT_SCRIPT, 1, key, count, sliceSize(allowance.limit), windowMs),
		);
		// The store has become unreachable, or was too slow.
		if (!Array.isArray(reply)) return grantLocalSlice(allowance);
		const [granted = 0, leftMs = 0] = reply.map(Number);
		allowance.windowEndsAt = performance.now() + leftMs;
		grant(allowance, granted);
	}
}

const sliceSize = ({count}: RateLimit): number => Math.ceil(count / SLICES);

/** Grants a slice of the budget that this replica has without a store. */
const grantLocalSlice = (allowance: Allowance): void =>
	grant(allowance, Math.min(sliceSize(allowance.limit), allowance.limit.count - allowance.granted));

function grant(allowance: Allowance, granted: number): void {
	allowance.remaining = Math.max(0, granted);
	allowance.granted += allowance.remaining;
	allowance.isExhausted = allowance.remaining === 0;
}
