import {performance} from 'node:perf_hooks';
import {BoundedMap} from '../bounded-map.js';
import type {Store} from '../replicas/store.js';
import type {RateLimit} from '../units.js';

export type RatesOptions = {
	/** How much one caller may ask for, if there is a limit. It may change. */
	readonly limit: () => RateLimit | undefined;
	/** Where replicas count together, if they do. */
	readonly store: () => Store | undefined;
};

/** Callers whose requests are counted. The oldest is forgotten for the next. */
const MAX_CALLERS = 10_000;
/** Of what a caller may ask for in a stretch of time, a replica takes so small a part at a time that little is left unused. */
const SLICES = 20;

/** Takes a slice of what is left, in a stretch of time that begins with its first. One key, for clusters. */
const GRANT = `local left = tonumber(ARGV[1]) - tonumber(redis.call('GET', KEYS[1]) or '0')
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
export class Rates {
	readonly #options: RatesOptions;
	readonly #callers = new BoundedMap<string, Allowance>(MAX_CALLERS);

	constructor(options: RatesOptions) {
		this.#options = options;
	}

	/** Whether anybody is counted at all. */
	get areLimited(): boolean {
		return this.#options.limit() !== undefined;
	}

	/** Counts a request of a caller. Tells how many milliseconds that has to wait before it may ask again; 0 if it may. */
	take(caller: string): number | Promise<number> {
		const limit = this.#options.limit();
		if (!limit) return 0;
		const allowance = this.#allowanceOf(caller, limit);
		const now = performance.now();
		if (now >= allowance.until)
			Object.assign(allowance, {left: 0, taken: 0, isLast: false, until: now + limit.windowMs});
		if (allowance.left === 0 && !allowance.isLast) {
			const store = this.#options.store();
			if (store?.isUp) return this.#ask(store, caller, allowance).then(() => this.take(caller));
			takeSlice(allowance);
		}
		if (allowance.left === 0) return Math.max(1, allowance.until - now);
		allowance.left--;
		return 0;
	}

	#allowanceOf(caller: string, limit: RateLimit): Allowance {
		const known = this.#callers.get(caller);
		if (known?.limit === limit) return known;
		const fresh = {limit, left: 0, taken: 0, until: 0, isLast: false, asking: undefined};
		this.#callers.set(caller, fresh);
		return fresh;
	}

	/** Asks for a slice, once for all who wait for it. */
	#ask(store: Store, caller: string, allowance: Allowance): Promise<void> {
		allowance.asking ??= this.#granted(store, caller, allowance).finally(() => {
			allowance.asking = undefined;
		});
		return allowance.asking;
	}

	async #granted(store: Store, caller: string, allowance: Allowance): Promise<void> {
		const {count, windowMs} = allowance.limit;
		const [name] = store.names('rate', `${count}/${windowMs}`, caller);
		const key = store.key('rate', name);
		const answer = await store.ask(redis =>
			redis.eval(GRANT, 1, key, count, sliceOf(allowance.limit), windowMs),
		);
		// It has just gone, or was too slow.
		if (!Array.isArray(answer)) return takeSlice(allowance);
		const [granted = 0, leftMs = 0] = answer.map(Number);
		allowance.until = performance.now() + leftMs;
		grant(allowance, granted);
	}
}

const sliceOf = ({count}: RateLimit): number => Math.ceil(count / SLICES);

/** Takes a slice of what one replica alone may let through. */
const takeSlice = (allowance: Allowance): void =>
	grant(allowance, Math.min(sliceOf(allowance.limit), allowance.limit.count - allowance.taken));

function grant(allowance: Allowance, granted: number): void {
	allowance.left = Math.max(0, granted);
	allowance.taken += allowance.left;
	allowance.isLast = allowance.left === 0;
}
