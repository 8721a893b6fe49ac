import {setImmediate as nextTurn} from 'node:timers/promises';
import type {FilterMatches} from './filter-matches.js';
import {type IndexColumns, rowFlags, rowKinds} from './index-columns.js';
import type {LogIndex} from './log-index.js';
import type {LatencyInterval, LatencyOverTime} from './page/types.js';

/**
 * Latencies are counted in logarithmic bins of an eighth of a doubling, so each has an error of at most 10 %.
 */
const BINS_PER_DOUBLING = 8;
const BINS = 40 * BINS_PER_DOUBLING;

/**
 * Rows read before other work gets a turn, since the thread also forwards messages. A slice takes about 1 ms.
 */
export const SLICE_ROWS = 2 ** 14;

type LatencyOptions = {
	readonly parts: number;
	/** Whether the matches contain only requests. */
	readonly ofRequests: boolean;
	/** Whether the response can still be sent. */
	readonly isWanted?: () => boolean;
};

/**
 * Aggregates the latencies of responses in `parts` intervals of equal length. Resolves with undefined if
 * `isWanted` returns false. Rows added meanwhile are not read.
 */
export async function latencyOverTime(
	{columns}: Pick<LogIndex, 'columns'>,
	matches: Pick<FilterMatches, 'count' | 'row'>,
	{parts, ofRequests, isWanted = () => true}: LatencyOptions,
): Promise<LatencyOverTime | undefined> {
	const responses: number[] = [];
	let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
	const isComplete = await visitInSlices(matches.count, isWanted, at => {
		const row = matches.row(at);
		const kind = columns.value(row, 'kind');
		// Measures the responses of the matching requests.
		const response = ofRequests ? columns.value(row, 'pair') - 1 : row;
		const isResponse = ofRequests ? response > row : kind === rowKinds.result || kind === rowKinds.error;
		// The indexing thread may be ahead of the known rows.
		if (!isResponse || response >= columns.count || columns.value(response, 'pair') === 0) return;
		const time = columns.value(response, 'time');
		if (Number.isNaN(time)) return;
		responses.push(response);
		from = Math.min(from, time);
		to = Math.max(to, time);
	});
	if (!isComplete) return;
	if (responses.length === 0) return {from: 0, to: 0, stretches: []};
	const intervals = new LatencyIntervals(columns, from, to, parts);
	const isCounted = await visitInSlices(responses.length, isWanted, at =>
		intervals.count(responses[at] ?? 0),
	);
	return isCounted ? {from, to, stretches: intervals.toIntervals()} : undefined;
}

/** Visits positions in slices. Resolves with false if `isWanted` returns false. */
async function visitInSlices(
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

class LatencyIntervals {
	readonly #columns: IndexColumns;
	readonly #from: number;
	readonly #width: number;
	readonly #bins: Uint32Array;
	readonly #seenTwins = new Set<number>();
	readonly #intervals: Array<{count: number; errors: number; max: number; row: number}>;

	constructor(columns: IndexColumns, from: number, to: number, parts: number) {
		this.#columns = columns;
		this.#from = from;
		this.#width = Math.max(1, (to - from + 1) / parts);
		this.#bins = new Uint32Array(parts * BINS);
		this.#intervals = Array.from({length: parts}, () => ({count: 0, errors: 0, max: -1, row: -1}));
	}

	toIntervals(): LatencyInterval[] {
		return this.#intervals.flatMap(({count, errors, max, row}, part) => {
			if (count === 0) return [];
			const time = Math.round(this.#from + part * this.#width);
			const [median, high] = [this.#quantile(part, count / 2), this.#quantile(part, count * 0.95)];
			return [{time, count, errors, median: Math.min(median, max), high: Math.min(high, max), max, row}];
		});
	}

	count(row: number): void {
		const columns = this.#columns;
		const request = columns.value(row, 'pair') - 1;
		// Counts a response recorded on both sides of bridge only once.
		const twin = columns.value(row, 'twin');
		if (twin !== 0 && this.#seenTwins.delete(twin - 1)) return;
		if (twin !== 0) this.#seenTwins.add(row);
		const time = columns.value(row, 'time');
		const latency = Math.max(0, time - columns.value(request, 'time'));
		const part = Math.floor((time - this.#from) / this.#width);
		const interval = this.#intervals[part];
		if (!interval || Number.isNaN(latency)) return;
		const isError =
			columns.value(row, 'kind') === rowKinds.error ||
			(columns.value(row, 'flags') & rowFlags.toolFailed) !== 0;
		interval.count++;
		if (isError) interval.errors++;
		if (latency > interval.max) {
			interval.max = latency;
			interval.row = row;
		}
		const bin = part * BINS + binOf(latency);
		this.#bins[bin] = (this.#bins[bin] ?? 0) + 1;
	}

	#quantile(part: number, rank: number): number {
		let seen = 0;
		for (let bin = 0; bin < BINS; bin++) {
			seen += this.#bins[part * BINS + bin] ?? 0;
			if (seen >= rank && seen > 0) return 2 ** (bin / BINS_PER_DOUBLING);
		}
		return 0;
	}
}

const binOf = (latency: number): number =>
	Math.min(BINS - 1, Math.max(0, Math.round(Math.log2(Math.max(1, latency)) * BINS_PER_DOUBLING)));
