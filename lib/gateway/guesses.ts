import {performance} from 'node:perf_hooks';
import {BoundedMap} from '../bounded-map.js';
import {Rate} from '../rate.js';

/** Wrong tokens in a minute: from one address, and in total. */
const PER_ADDRESS = 10;
const IN_TOTAL = 100;
const WINDOW_MS = 60_000;
/** Addresses that are counted. The oldest is evicted for the next. */
const MAX_ADDRESSES = 1000;

/** Limits how often tokens may be guessed. */
export class Guesses {
	readonly #now: () => number;
	readonly #all: Rate;
	readonly #byAddress = new BoundedMap<string, Rate>(MAX_ADDRESSES);

	/** `now` is monotonic, in milliseconds. */
	constructor(now: () => number = () => performance.now()) {
		this.#now = now;
		this.#all = new Rate(IN_TOTAL, WINDOW_MS, now);
	}

	/** How long this address has to wait until its next attempt; 0 if it may try now. */
	waitMs(address: string): number {
		return Math.max(this.#all.waitMs, this.#byAddress.get(address)?.waitMs ?? 0);
	}

	/** Counts a wrong token. */
	failed(address: string): void {
		const own = this.#byAddress.get(address) ?? new Rate(PER_ADDRESS, WINDOW_MS, this.#now);
		this.#byAddress.set(address, own);
		own.take();
		this.#all.take();
	}
}
