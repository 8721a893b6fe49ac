import type {Verdict} from './judge.js';

const MAX_KEPT = 20;

const percentile = (sorted: readonly number[], part: number): number =>
	sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;

/** The results of honest clients in one phase of the run. */
export class Phase {
	readonly name: string;
	right = 0;
	rssMiB = 0;
	/** Errors of upstreams that exited, by code. */
	readonly errors = new Map<number, number>();
	/** Times of correct responses of upstreams that do not exit, in ms. */
	readonly #times: number[] = [];

	constructor(name: string) {
		this.name = name;
	}

	record({error}: Verdict, ms: number, isMortal: boolean): void {
		if (error !== undefined) this.errors.set(error, (this.errors.get(error) ?? 0) + 1);
		else {
			this.right++;
			if (!isMortal) this.#times.push(ms);
		}
	}

	/** The median and the 99th percentile of the times. */
	times(): {readonly p50: number; readonly p99: number} {
		const sorted = this.#times.toSorted((one, other) => one - other);
		return {p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99)};
	}

	toString(): string {
		const {p50, p99} = this.times();
		const errors = [...this.errors].map(([code, count]) => `${code}: ${count}`).join(', ');
		return (
			`${this.name}: ${this.right} right responses; errors of upstreams that exited: ${errors || 'none'}; ` +
			`p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; RSS at most ${Math.round(this.rssMiB)} MiB`
		);
	}
}

/** The phases of a run, and all failures. */
export class Tally {
	readonly phases: Phase[] = [];
	readonly failures: string[] = [];
	failed = 0;
	/** The peak resident memory of the gateway. */
	peakMiB = 0;

	get phase(): Phase {
		return this.phases.at(-1) ?? this.begin('start');
	}

	begin(name: string): Phase {
		const phase = new Phase(name);
		this.phases.push(phase);
		return phase;
	}

	/** Counts a failure. Only the texts of the first ones are stored. */
	fail(text: string): void {
		this.failed++;
		if (this.failures.length < MAX_KEPT) this.failures.push(`[${this.phase.name}] ${text}`);
	}
}
