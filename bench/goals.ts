import type {Growth} from './growth.js';
import {FIGURES, type Figure, median, type Results} from './results.js';
import type {Target} from './target.js';

export interface Verdict {
	name: string;
	/** Median over rounds, and the smallest and largest of them. */
	value: number | undefined;
	least: number | undefined;
	most: number | undefined;
	goal: string;
	state: 'met' | 'missed' | 'not measured' | '';
}
/** How far bridge is ahead of one peer: above 1 is ahead, whichever direction a figure has. */
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

// Wider than the spread between runs of the same program, far below what a cost that grows shows in one run.
const GROWTH_LIMIT = 1.25;
// A heap is never as large as a moment ago; what leaks a little with each call is past this soon.
const SOAK_LIMIT = 1.1;
/** What «ahead of every peer on every figure» covers. */
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
/** The same where there is HTTP at an end: a server that many use is started seldom. */
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

// A log that lost messages is fast for the wrong reason: its speed proves nothing.
const logIsComplete = (results: Results, target: string): boolean => {
	const check = results.logs.get(target);
	return check === undefined || (check.gaps === 0 && check.messages >= check.expected);
};

// A ratio is taken inside a round and then the median over rounds, so that a slow minute cancels itself out.
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

/** The added latency of a target in µs: its p50 less that of direct in the same round. */
export const addedP50 = (results: Results, target: string): number | undefined => {
	const direct = results.byRound('direct', 'p50');
	return median(
		[...results.byRound(target, 'p50')].map(([round, value]) => value - (direct.get(round) ?? Number.NaN)),
	);
};

/** What «against» measures: a target beside another one. */
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
		judge('CPU of 100 tools translated ÷ parsed and written', lists, {atMost: 2}),
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

/** The goals of bridge where there is HTTP at one end. `limit` does nothing but pass messages on; on stdio there is one client only. */
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

/** bridge against every peer, figure by figure. A peer that was not measured is never counted as beaten. */
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
			// A peer that does not carry 1 MB is behind in that, whatever it needs for it.
			const complete = compared.every(figure => figures[figure] !== undefined || isOfBig(figure));
			return {peer, figures, behind, state: complete ? 'met' : 'not measured'};
		});
