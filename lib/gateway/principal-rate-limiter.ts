import {performance} from 'node:perf_hooks';
import {BoundedMap} from '../util/bounded-map.js';
import type {RateLimit} from '../util/units.js';
import type {SharedStore} from './cluster/shared-store.js';

type PrincipalRateLimiterOptions = {
	/** How much one caller may ask for, if there is a limit. It may change. */
	readonly limit: () => RateLimit | undefined;
	/** Where replicas count together, if they do. */
	readonly store: () => SharedStore | undefined;
};

/** Callers whose requests are counted. The oldest is forgotten for the next. */
const MAX_COUNTED_KEYS = 10_000;
/** Of what a caller may ask for in a stretch of time, a replica takes so small a part at a time that little is left unused. */
const SLICES = 20;

/** Takes a slice of what is left, in a stretch of time that begins with its first. One key, for clusters. */
const GRANT_SCRIPT = `local left = tonumber(ARGV[1]) - tonumber(redis.call('GET', KEYS[1]) or '0')
local granted = math.max(0, math.min(left, tonumber(ARGV[2])))
if granted > 0 then redis.call('INCRBY', KEYS[1], granted) end
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return {granted, redis.call('PTTL', KEYS[1])}`;

/** What one caller may still do here. */
type Allowance = {
	readonly limit: RateLimit;
	left: number;
	/** How much was taken for it in this stretch of time. */
	taken: number;
	/** When a new one begins, by a clock that is never set. */
	until: number;
	/** Whether no more than what is left is to be had until then. */
	isLast: boolean;
	/** More is being asked for. */
	asking: Promise<void> | undefined;
};

/**
 * How often callers may ask. Replicas with a store take slices of the same budget, so that only one request in many has to
 * wait for it; those without, and while it is away, count for themselves.
 */
export class PrincipalRateLimiter {
	readonly #options: PrincipalRateLimiterOptions;
	readonly #allowances = new BoundedMap<string, Allowance>(MAX_COUNTED_KEYS);

	constructor(options: PrincipalRateLimiterOptions) {
		this.#options = options;
	}

	/** Whether anybody is counted at all. */
	get isEnabled(): boolean {
		return this.#options.limit() !== undefined;
	}

	/** Counts a request of a caller. Tells how many milliseconds that has to wait before it may ask again; 0 if it may. */
	take(key: string): number | Promise<number> {
		const limit = this.#options.limit();
		if (!limit) return 0;
		const allowance = this.#allowanceOf(key, limit);
		const now = performance.now();
		if (now >= allowance.until)
			Object.assign(allowance, {left: 0, taken: 0, isLast: false, until: now + limit.windowMs});
		if (allowance.left === 0 && !allowance.isLast) {
			const store = this.#options.store();
			if (store?.isUp) return this.#requestSlice(store, key, allowance).then(() => this.take(key));
			grantLocalSlice(allowance);
		}
		if (allowance.left === 0) return Math.max(1, allowance.until - now);
		allowance.left--;
		return 0;
	}

	#allowanceOf(key: string, limit: RateLimit): Allowance {
		const existing = this.#allowances.get(key);
		if (existing?.limit === limit) return existing;
		const fresh = {limit, left: 0, taken: 0, until: 0, isLast: false, asking: undefined};
		this.#allowances.set(key, fresh);
		return fresh;
	}

	/** Asks for a slice, once for all who wait for it. */
	#requestSlice(store: SharedStore, rateKey: string, allowance: Allowance): Promise<void> {
		allowance.asking ??= this.#requestGrant(store, rateKey, allowance).finally(() => {
			allowance.asking = undefined;
		});
		return allowance.asking;
	}

	async #requestGrant(store: SharedStore, rateKey: string, allowance: Allowance): Promise<void> {
		const {count, windowMs} = allowance.limit;
		const [name] = store.blindedNames('rate', `${count}/${windowMs}`, rateKey);
		const key = store.key('rate', name);
		const reply = await store.run(redis =>
			redis.eval(GRANT_SCRIPT, 1, key, count, sliceSize(allowance.limit), windowMs),
		);
		// It has just gone, or was too slow.
		if (!Array.isArray(reply)) return grantLocalSlice(allowance);
		const [granted = 0, leftMs = 0] = reply.map(Number);
		allowance.until = performance.now() + leftMs;
		grant(allowance, granted);
	}
}

const sliceSize = ({count}: RateLimit): number => Math.ceil(count / SLICES);

/** Takes a slice of what one replica alone may let through. */
const grantLocalSlice = (allowance: Allowance): void =>
	grant(allowance, Math.min(sliceSize(allowance.limit), allowance.limit.count - allowance.taken));

function grant(allowance: Allowance, granted: number): void {
	allowance.left = Math.max(0, granted);
	allowance.taken += allowance.left;
	allowance.isLast = allowance.left === 0;
}
