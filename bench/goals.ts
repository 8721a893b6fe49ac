import type {Growth} from './growth.js';
import {FIGURES, type Figure, median, type Results} from './results.js';
import type {Target} from './target.js';

export interface Verdict {
	name: string;
	/** Median over the rounds, with the minimum and maximum. */
	value: number | undefined;
	least: number | undefined;
	most: number | undefined;
	goal: string;
	state: 'met' | 'missed' | 'not measured' | '';
}
/** The lead of bridge over one peer: above 1 is better, for each figure. */
export interface Lead {
	peer: string;
	figures: Partial<Record<Figure, number>>;
	behind: Figure[];
	state: 'met' | 'missed' | 'not measured';
}

interface Bound {
	atMost?: number;
	atLeast?: number;
}

// More than the variation between runs of a program, and far less than the effect of a growing cost in one
// run.
const GROWTH_LIMIT = 1.25;
// The heap size varies from sample to sample. A leak per call exceeds this limit soon.
const SOAK_LIMIT = 1.1;
/** The figures of the goal "ahead of every peer on every figure". */
export const COMPARED: Figure[] = [
	'startMs',
	'p50',
	'p99',
	'callsPerSecond',
	'resultRate',
	'echoRate',
	'cpuSequential',
	'cpuConcurrent',
	'rss',
];
/** The figures with HTTP on one side: startup is excluded, since shared servers start rarely. */
export const COMPARED_OVER_HTTP: Figure[] = COMPARED.filter(figure => figure !== 'startMs');

const goalText = ({atMost, atLeast}: Bound): string => {
	if (atMost !== undefined) {
		return `≤ ${atMost}`;
	}
	return atLeast === undefined ? '' : `≥ ${atLeast}`;
};

const judge = (name: string, ratios: number[], bound: Bound): Verdict => {
	const value = median(ratios);
	const goal = goalText(bound);
	const range = {least: value && Math.min(...ratios), most: value && Math.max(...ratios)};
	if (value === undefined) {
		return {name, value, ...range, goal, state: 'not measured'};
	}
	const met = value <= (bound.atMost ?? Number.POSITIVE_INFINITY) && value >= (bound.atLeast ?? 0);
	const state = met ? 'met' : 'missed';
	return {name, value, ...range, goal, state: goal === '' ? '' : state};
};

// A log that lost messages is fast for the wrong reason, so its speed does not count.
const logIsComplete = (results: Results, target: string): boolean => {
	const check = results.logs.get(target);
	return check === undefined || (check.gaps === 0 && check.messages >= check.expected);
};

// Ratios are computed within a round, and then the median over the rounds is taken, so that slow minutes
// cancel out.
const ratios = (results: Results, figure: Figure, over: string, under: string): number[] => {
	const base = results.byRound(under, figure);
	return [...results.byRound(over, figure)]
		.map(([round, value]) => value / (base.get(round) ?? Number.NaN))
		.filter(Number.isFinite);
};

const addedRatios = (results: Results, over: string, under: string): number[] => {
	const direct = results.byRound('direct', 'p50');
	const base = results.byRound(under, 'p50');
	return [...results.byRound(over, 'p50')]
		.map(([round, value]) => {
			const zero = direct.get(round) ?? Number.NaN;
			return (value - zero) / ((base.get(round) ?? Number.NaN) - zero);
		})
		.filter(ratio => Number.isFinite(ratio) && ratio > 0);
};

/** The added latency of a target in µs: its p50 minus the p50 of direct in the same round. */
export const addedP50 = (results: Results, target: string): number | undefined => {
	const direct = results.byRound('direct', 'p50');
	return median(
		[...results.byRound(target, 'p50')].map(([round, value]) => value - (direct.get(round) ?? Number.NaN)),
	);
};

/** Compares a target with another one. */
const versus =
	(results: Results) =>
	(figure: Figure, over: string, under: string, bound: Bound): Verdict =>
		judge(
			`${FIGURES[figure].title}: ${over} ÷ ${under}`,
			logIsComplete(results, over) ? ratios(results, figure, over, under) : [],
			bound,
		);

/** The goals of bridge between stdio and stdio. */
export const judgeStdio = (results: Results, growths: Growth[], lists: number[]): Verdict[] => {
	const against = versus(results);
	const growth = (target: string, bound: Bound): Verdict =>
		judge(
			`CPU of a late call ÷ an early one: ${target}`,
			growths.filter(one => one.target === target).map(one => one.ratio),
			bound,
		);
	return [
		judge('added p50: bridge ÷ pipe', addedRatios(results, 'bridge', 'pipe'), {atMost: 1.25}),
		against('callsPerSecond', 'bridge', 'pipe', {atLeast: 0.9}),
		against('resultRate', 'bridge', 'pipe', {atLeast: 0.8}),
		against('callsPerSecond', 'bridge+log', 'bridge', {atLeast: 0.7}),
		against('resultRate', 'bridge+log', 'bridge', {atLeast: 0.7}),
		against('cpuSequential', 'bridge+versions', 'bridge', {atMost: 1.05}),
		against('cpuConcurrent', 'bridge+versions', 'bridge', {atMost: 1.05}),
		judge('CPU of translating 100 tools ÷ parsing and serializing them', lists, {atMost: 2}),
		growth('bridge', {atMost: GROWTH_LIMIT}),
		growth('pipe', {}),
		against('echoRate', 'bridge', 'pipe', {}),
		against('cpuSequential', 'bridge', 'pipe', {}),
		against('cpuConcurrent', 'bridge', 'pipe', {}),
		against('cpuResult', 'bridge', 'pipe', {}),
		against('startMs', 'bridge', 'pipe', {}),
		against('rss', 'bridge', 'pipe', {}),
	];
};

/**
 * The goals of bridge with HTTP on one side. `limit` only forwards messages; on stdio it has one client.
 */
export const judgeHttp = (results: Results, limit: string, hasSessions: boolean): Verdict[] => {
	const against = versus(results);
	const of = (figure: Figure, bound: Bound): Verdict =>
		judge(`${FIGURES[figure].title}: bridge`, [...results.byRound('bridge', figure).values()], bound);
	return [
		against('callsPerSecond', 'bridge', limit, {atLeast: 0.8}),
		against('resultRate', 'bridge', limit, {atLeast: 0.8}),
		...(hasSessions ? [of('sessionErrors', {atMost: 0}), of('sessionRss', {atMost: 300})] : []),
		of('soakRatio', {atMost: SOAK_LIMIT}),
		against('p50', 'bridge', limit, {}),
		against('p99', 'bridge', limit, {}),
		against('echoRate', 'bridge', limit, {}),
		against('cpuSequential', 'bridge', limit, {}),
		against('cpuConcurrent', 'bridge', limit, {}),
		against('cpuResult', 'bridge', limit, {}),
		against('startMs', 'bridge', limit, {}),
		against('rss', 'bridge', limit, {}),
		against('p50', 'bridge', 'direct', {}),
		against('p99', 'bridge', 'direct', {}),
		against('callsPerSecond', 'bridge', 'direct', {}),
		against('resultRate', 'bridge', 'direct', {}),
	];
};

const isOfBig = (figure: Figure): boolean =>
	figure === 'resultRate' || figure === 'echoRate' || figure === 'rss';

/** Compares bridge with each peer, by figure. Peers without a measurement do not count as beaten. */
export const judgeLeads = (results: Results, targets: Target[], compared: Figure[]): Lead[] =>
	targets
		.filter(target => target.role === 'peer')
		.map(({name: peer}) => {
			const figures: Partial<Record<Figure, number>> = {};
			for (const figure of compared) {
				const ratio = median(ratios(results, figure, 'bridge', peer));
				if (ratio !== undefined) {
					figures[figure] = FIGURES[figure].better === 'lower' ? 1 / ratio : ratio;
				}
			}
			const behind = compared.filter(figure => (figures[figure] ?? Number.POSITIVE_INFINITY) < 1);
			if (behind.length > 0) {
				return {peer, figures, behind, state: 'missed'};
			}
			// A peer that cannot forward 1 MB is behind in that figure.
			const complete = compared.every(figure => figures[figure] !== undefined || isOfBig(figure));
			return {peer, figures, behind, state: complete ? 'met' : 'not measured'};
		});
