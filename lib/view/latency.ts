import {flags, kinds} from './columns.js';
import type {LogIndex} from './log-index.js';
import type {Matches} from './matches.js';
import type {LatencyOverTime, Stretch} from './page/types.js';

/** Latencies are counted in steps of an eighth of a power of two microseconds, so each is known to within a tenth. */
const STEPS = 8;
const BINS = 40 * STEPS;

/** How long answers took, over the time from the first to the last of them, in so many stretches. */
export function latencyOverTime(
	index: LogIndex,
	matches: Matches,
	{parts, ofRequests}: {readonly parts: number; readonly ofRequests: boolean},
): LatencyOverTime {
	const {columns} = index;
	const answers: number[] = [];
	let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
	for (let at = 0; at < matches.count; at++) {
		const row = matches.row(at);
		const kind = columns.value(row, 'kind');
		// Where requests alone are shown, it is about their answers.
		const answer = ofRequests ? columns.value(row, 'pair') - 1 : row;
		const isAnswer = ofRequests ? answer > row : kind === kinds.result || kind === kinds.error;
		if (!isAnswer || columns.value(answer, 'pair') === 0) continue;
		const time = columns.value(answer, 'time');
		if (Number.isNaN(time)) continue;
		answers.push(answer);
		from = Math.min(from, time);
		to = Math.max(to, time);
	}
	if (answers.length === 0) return {from: 0, to: 0, stretches: []};
	return {from, to, stretches: new Stretches(index, from, to, parts).of(answers)};
}

class Stretches {
	readonly #index: LogIndex;
	readonly #from: number;
	readonly #width: number;
	readonly #bins: Uint32Array;
	readonly #found: Array<{count: number; errors: number; max: number; row: number}>;

	constructor(index: LogIndex, from: number, to: number, parts: number) {
		this.#index = index;
		this.#from = from;
		this.#width = Math.max(1, (to - from + 1) / parts);
		this.#bins = new Uint32Array(parts * BINS);
		this.#found = Array.from({length: parts}, () => ({count: 0, errors: 0, max: -1, row: -1}));
	}

	of(answers: readonly number[]): Stretch[] {
		const seen = new Set<number>();
		for (const row of answers) this.#count(row, seen);
		return this.#found.flatMap(({count, errors, max, row}, part) => {
			if (count === 0) return [];
			const time = Math.round(this.#from + part * this.#width);
			const [median, high] = [this.#quantile(part, count / 2), this.#quantile(part, count * 0.95)];
			return [{time, count, errors, median: Math.min(median, max), high: Math.min(high, max), max, row}];
		});
	}

	#count(row: number, seen: Set<number>): void {
		const {columns} = this.#index;
		const request = columns.value(row, 'pair') - 1;
		// The same answer on both sides of bridge is one.
		const twin = columns.value(row, 'twin');
		if (twin !== 0 && seen.delete(twin - 1)) return;
		if (twin !== 0) seen.add(row);
		const time = columns.value(row, 'time');
		const latency = Math.max(0, time - columns.value(request, 'time'));
		const part = Math.floor((time - this.#from) / this.#width);
		const found = this.#found[part];
		if (!found || Number.isNaN(latency)) return;
		const isError =
			columns.value(row, 'kind') === kinds.error || (columns.value(row, 'flags') & flags.toolFailed) !== 0;
		found.count++;
		if (isError) found.errors++;
		if (latency > found.max) {
			found.max = latency;
			found.row = row;
		}
		const bin = part * BINS + binOf(latency);
		this.#bins[bin] = (this.#bins[bin] ?? 0) + 1;
	}

	#quantile(part: number, wanted: number): number {
		let seen = 0;
		for (let bin = 0; bin < BINS; bin++) {
			seen += this.#bins[part * BINS + bin] ?? 0;
			if (seen >= wanted && seen > 0) return 2 ** (bin / STEPS);
		}
		return 0;
	}
}

const binOf = (latency: number): number =>
	Math.min(BINS - 1, Math.max(0, Math.round(Math.log2(Math.max(1, latency)) * STEPS)));
