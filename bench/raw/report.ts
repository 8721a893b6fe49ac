import {median} from '../results.js';
import type {Figures} from './slices.js';

/** The sample of a target in a round, and the cores that other programs used meanwhile. */
export type Sample = {
	readonly target: string;
	readonly round: number;
	readonly foreign: number;
	readonly figures: Figures;
};

const columns: ReadonlyArray<readonly [figure: string, title: string, digits: number]> = [
	['p50', 'p50 µs', 1],
	['stream', 'MB/s', 0],
	['streamCpu', 'CPU ms/MB', 2],
	['burst', 'burst MB/s', 0],
	['burstCpu', 'CPU ms/MB', 2],
	['long', 'long MB/s', 0],
	['longLogged', 'logged MB/s', 0],
	['longCpu', 'CPU ms/MB', 2],
	['longRss', 'RSS MB', 0],
	['longGrowth', 'RSS late ÷ midway', 2],
];

/** One value per round: the median of its turns. */
const byRound = (samples: readonly Sample[], target: string, figure: string): Map<number, number> => {
	const rounds = new Map<number, number[]>();
	for (const sample of samples) {
		const value = sample.figures[figure];
		if (sample.target === target && value !== undefined) {
			rounds.set(sample.round, [...(rounds.get(sample.round) ?? []), value]);
		}
	}
	return new Map([...rounds].map(([round, values]) => [round, median(values) ?? Number.NaN]));
};

/** Ratios are computed within a round, so that slow minutes cancel out. */
const ratios = (samples: readonly Sample[], figure: string, over: string, under?: string): number[] => {
	const base = under === undefined ? undefined : byRound(samples, under, figure);
	return [...byRound(samples, over, figure)]
		.map(([round, value]) => (base ? value / (base.get(round) ?? Number.NaN) : value))
		.filter(Number.isFinite);
};

type Goal = {
	readonly title: string;
	readonly figure: string;
	readonly over: string;
	readonly under?: string;
	readonly atLeast?: number;
	readonly atMost?: number;
};

const goals: readonly Goal[] = [
	{title: 'MB/s without a log: bridge ÷ pipe', figure: 'stream', over: 'bridge', under: 'pipe', atLeast: 0.9},
	{title: 'burst MB/s: bridge+log ÷ pipe', figure: 'burst', over: 'bridge+log', under: 'pipe', atLeast: 0.6},
	{title: 'p50: bridge+log ÷ pipe', figure: 'p50', over: 'bridge+log', under: 'pipe', atMost: 1.2},
	{
		title: 'long MB/s: bridge+wait ÷ mitmdump -w',
		figure: 'long',
		over: 'bridge+wait',
		under: 'mitmdump -w',
		atLeast: 2,
	},
	{title: 'RSS late ÷ midway: bridge+wait', figure: 'longGrowth', over: 'bridge+wait', atMost: 1.1},
];

export type Verdict = {
	readonly title: string;
	readonly goal: string;
	/** Median over the rounds, with the extremes. */
	readonly value: number | undefined;
	readonly least: number;
	readonly most: number;
	readonly state: 'met' | 'missed' | 'not measured';
};

const judge = (samples: readonly Sample[], {title, figure, over, under, ...bound}: Goal): Verdict => {
	const {atLeast = 0, atMost = Number.POSITIVE_INFINITY} = bound;
	const values = ratios(samples, figure, over, under);
	const value = median(values);
	const isMet = value !== undefined && value >= atLeast && value <= atMost;
	return {
		title,
		value,
		least: Math.min(...values),
		most: Math.max(...values),
		goal: bound.atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`,
		state: value === undefined ? 'not measured' : isMet ? 'met' : 'missed',
	};
};

export type RawReport = {
	readonly targets: {readonly [name: string]: Figures};
	readonly verdicts: readonly Verdict[];
};

export const makeRawReport = (samples: readonly Sample[], names: readonly string[]): RawReport => {
	const middle = (target: string): Figures => {
		const found = columns.map(([figure]) => [figure, median(ratios(samples, figure, target))] as const);
		const foreign = median(samples.filter(sample => sample.target === target).map(one => one.foreign));
		return Object.fromEntries(
			[...found, ['foreign', foreign] as const].flatMap(([figure, value]) =>
				value === undefined ? [] : [[figure, value]],
			),
		);
	};
	return {
		targets: Object.fromEntries(names.map(name => [name, middle(name)])),
		verdicts: goals.map(goal => judge(samples, goal)),
	};
};

export const toRawText = ({targets, verdicts}: RawReport): string => {
	const cells: ReadonlyArray<readonly [figure: string, digits: number]> = [
		...columns.map(([figure, , digits]) => [figure, digits] as const),
		['foreign', 2],
	];
	const rows = Object.entries(targets).map(
		([name, figures]) =>
			`| ${[name, ...cells.map(([figure, digits]) => figures[figure]?.toFixed(digits) ?? '–')].join(' | ')} |`,
	);
	const head = ['target', ...columns.map(([, title]) => title), 'cores of others'];
	const lines = verdicts.map(({title, value, least, most, goal, state}) => {
		const range = value === undefined ? '' : ` (${least.toFixed(2)} to ${most.toFixed(2)})`;
		return `| ${title} | ${value?.toFixed(2) ?? '–'}${range} | ${goal} | ${state} |`;
	});
	return [
		`| ${head.join(' | ')} |`,
		`|${'---|'.repeat(head.length)}`,
		...rows,
		'',
		'| goal | median (least to most) | goal | state |',
		'|---|---|---|---|',
		...lines,
		'',
	].join('\n');
};
