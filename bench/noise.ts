import {setTimeout as sleep} from 'node:timers/promises';
import {benchCpuMs, machineCpuMs} from './process-stats.js';

/** Cores that other programs may use during a slice before it counts as disturbed. */
export const DISTURBED = 0.35;
const QUIET = 0.3;
const PROBE_MS = 250;
const LONGEST_WAIT_MS = 10_000;

/** Handles a shared machine: waits for idle time within a budget, and repeats disturbed slices. */
export class Noise {
	readonly #folder: string;
	readonly #retries: number;
	#budgetMs: number;

	constructor(folder: string, retries: number, budgetMs: number) {
		this.#folder = folder;
		this.#retries = retries;
		this.#budgetMs = budgetMs;
	}

	/** Returns when the machine is idle or the budget is used up. */
	async quiet(): Promise<void> {
		const giveUp = performance.now() + Math.min(LONGEST_WAIT_MS, this.#budgetMs);
		while (performance.now() < giveUp) {
			const before = machineCpuMs();
			const start = performance.now();
			await sleep(PROBE_MS);
			const spent = performance.now() - start;
			if ((machineCpuMs() - before) / spent <= QUIET) {
				return;
			}
			this.#budgetMs -= spent;
		}
	}

	/**
	 * Runs a slice, repeats it while other programs use the machine, and keeps the calmest run. `after` is
	 * not measured.
	 */
	async calmest<T>(
		run: () => Promise<T>,
		after: (value: T) => Promise<void> = async () => undefined,
	): Promise<{value: T; foreign: number}> {
		let best = await this.#once(run, after);
		for (let retry = 0; retry < this.#retries && best.foreign > DISTURBED; retry++) {
			await this.quiet();
			const next = await this.#once(run, after);
			best = next.foreign < best.foreign ? next : best;
		}
		return best;
	}

	async #once<T>(
		run: () => Promise<T>,
		after: (value: T) => Promise<void>,
	): Promise<{value: T; foreign: number}> {
		const machine = machineCpuMs();
		const ours = benchCpuMs(this.#folder);
		const start = performance.now();
		const value = await run();
		const spent = performance.now() - start;
		const foreign = (machineCpuMs() - machine - (benchCpuMs(this.#folder) - ours)) / spent;
		await after(value);
		return {value, foreign: Math.max(0, foreign)};
	}
}
