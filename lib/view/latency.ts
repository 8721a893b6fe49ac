import {setImmediate as nextTurn} from 'node:timers/promises';
import {type Columns, flags, kinds} from './columns.js';
import type {LogIndex} from './log-index.js';
import type {Matches} from './matches.js';
import type {LatencyOverTime, Stretch} from './page/types.js';

/** Latencies are counted in steps of an eighth of a power of two microseconds, so each is known to within a tenth. */
const STEPS = 8;
const BINS = 40 * STEPS;

/** Rows that are read before other work of the thread gets its turn: it also forwards messages. About a millisecond. */
export const SLICE_ROWS = 2 ** 14;

export type LatencyOptions = {
	readonly parts: number;
	/** Whether the matches are requests alone. */
	readonly ofRequests: boolean;
	/** Whether the response can still be sent. */
	readonly isWanted?: () => boolean;
};

/**
 * How long responses took, from the first to the last of them, in this many stretches; undefined if that is not
 * wanted any more. Rows that are added meanwhile are not read.
 */
export async function latencyOverTime(
	{columns}: Pick<LogIndex, 'columns'>,
	matches: Pick<Matches, 'count' | 'row'>,
	{parts, ofRequests, isWanted = () => true}: LatencyOptions,
): Promise<LatencyOverTime | undefined> {
	const answers: number[] = [];
	let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
	const isWhole = await inSlices(matches.count, isWanted, at => {
		const row = matches.row(at);
		const kind = columns.value(row, 'kind');
		// Where requests alone are shown, it is about their answers.
		const answer = ofRequests ? columns.value(row, 'pair') - 1 : row;
		const isAnswer = ofRequests ? answer > row : kind === kinds.result || kind === kinds.error;
		// The thread that indexes may be ahead of the rows that are known here.
		if (!isAnswer || answer >= columns.count || columns.value(answer, 'pair') === 0) return;
		const time = columns.value(answer, 'time');
		if (Number.isNaN(time)) return;
		answers.push(answer);
		from = Math.min(from, time);
		to = Math.max(to, time);
	});
	if (!isWhole) return;
	if (answers.length === 0) return {from: 0, to: 0, stretches: []};
	const stretches = new Stretches(columns, from, to, parts);
	const isCounted = await inSlices(answers.length, isWanted, at => stretches.count(answers[at] ?? 0));
	return isCounted ? {from, to, stretches: stretches.found()} : undefined;
}

/** Visits positions in slices. Resolves to false if they are not wanted any more before the last one. */
async function inSlices(
	count: number,
	isWanted: () => boolean,
	visit: (at: number) => void,
): Promise<boolean> {
	for (let start = 0; start < count; start += SLICE_ROWS) {
		if (start > 0) await nextTurn();
		if (!isWanted()) return false;
		const end = Math.min(count, start + SLICE_ROWS);
		for (let at = start; at < end; at++) visit(at);
	}
	return true;
}

class Stretches {
	readonly #columns: Columns;
	readonly #from: number;
	readonly #width: number;
	readonly #bins: Uint32Array;
	readonly #seen = new Set<number>();
	readonly #found: Array<{count: number; errors: number; max: number; row: number}>;

	constructor(columns: Columns, from: number, to: number, parts: number) {
		this.#columns = columns;
		this.#from = from;
		this.#width = Math.max(1, (to - from + 1) / parts);
		this.#bins = new Uint32Array(parts * BINS);
		this.#found = Array.from({length: parts}, () => ({count: 0, errors: 0, max: -1, row: -1}));
	}

	found(): Stretch[] {
		return this.#found.flatMap(({count, errors, max, row}, part) => {
			if (count === 0) return [];
			const time = Math.round(this.#from + part * this.#width);
			const [median, high] = [this.#quantile(part, count / 2), this.#quantile(part, count * 0.95)];
			return [{time, count, errors, median: Math.min(median, max), high: Math.min(high, max), max, row}];
		});
	}

	count(row: number): void {
		const columns = this.#columns;
		const request = columns.value(row, 'pair') - 1;
		// The same answer on both sides of bridge is one.
		const twin = columns.value(row, 'twin');
		if (twin !== 0 && this.#seen.delete(twin - 1)) return;
		if (twin !== 0) this.#seen.add(row);
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
