import {cpus} from 'node:os';
import {
	addedP50,
	COMPARED,
	COMPARED_OVER_HTTP,
	judgeHttp,
	judgeLeads,
	judgeStdio,
	type Lead,
	type Verdict,
} from './goals.js';
import type {Growth} from './growth.js';
import type {Options} from './options.js';
import {FIGURE_NAMES, FIGURES, type Figure, type Results} from './results.js';
import type {Target} from './target.js';
import type {Topology} from './topologies.js';
import type {LogCheck} from './traffic-log.js';
import {measureListTranslation} from './translation.js';

interface Described {
	name: string;
	role: Target['role'];
	version: string | undefined;
	problem: string | undefined;
	/** Medians over the rounds. */
	figures: Partial<Record<Figure, number | undefined>>;
	addedP50: number | undefined;
	foreignCores: number | undefined;
	leftovers: number | undefined;
	log: LogCheck | undefined;
}

export interface Report {
	topology: string;
	title: string;
	node: string;
	cores: number;
	rounds: number;
	quick: boolean;
	targets: Described[];
	goals: Verdict[];
	peers: Lead[];
	growth: Growth[];
}

const short = (value: number | undefined): string => {
	if (value === undefined || !Number.isFinite(value)) {
		return '–';
	}
	return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
};
// JSON with three significant digits or integers: more would be false precision.
const rounded = (_key: string, value: unknown): unknown =>
	typeof value === 'number' && !Number.isInteger(value) ? Number(short(value)) : value;
export const toJson = (reports: Report[]): string => `${JSON.stringify({topologies: reports}, rounded)}\n`;

const comparedIn = (topology: string): Figure[] => (topology === 'stdio' ? COMPARED : COMPARED_OVER_HTTP);

/** The results of one topology. */
export interface Found {
	results: Results;
	growths: Growth[];
}

const describe = (results: Results, target: Target): Described => ({
	name: target.name,
	role: target.role,
	version: target.version,
	problem: target.absent ? 'not installed and not measured' : results.problems.get(target.name),
	figures: Object.fromEntries(FIGURE_NAMES.map(figure => [figure, results.middle(target.name, figure)])),
	addedP50: target.role === 'direct' ? undefined : addedP50(results, target.name),
	foreignCores: results.foreign(target.name),
	leftovers: results.leftovers.get(target.name),
	log: results.logs.get(target.name),
});

export const makeReport = (options: Options, topology: Topology, targets: Target[], found: Found): Report => {
	const {results, growths} = found;
	const isStdio = topology.name === 'stdio';
	return {
		topology: topology.name,
		title: topology.title,
		node: process.version,
		cores: cpus().length,
		rounds: options.rounds,
		quick: options.quick,
		targets: targets.map(target => describe(results, target)),
		goals: isStdio
			? judgeStdio(results, growths, measureListTranslation())
			: judgeHttp(results, topology.limit, topology.name !== 'stdio-http'),
		peers: judgeLeads(results, targets, comparedIn(topology.name)),
		growth: growths,
	};
};

const table = (rows: string[][]): string => {
	const columns = rows[0]?.length ?? 0;
	const widths = Array.from({length: columns}, (_, column) =>
		Math.max(...rows.map(row => [...(row[column] ?? '')].length)),
	);
	const line = (row: string[]): string =>
		row
			.map((cell, column) => {
				const padding = ' '.repeat((widths[column] ?? 0) - [...cell].length);
				return column === 0 ? cell + padding : padding + cell;
			})
			.join('  ');
	return rows.map(line).join('\n');
};

const mediansTable = (report: Report): string => {
	const measured = FIGURE_NAMES.filter(name =>
		report.targets.some(({figures}) => figures[name] !== undefined),
	);
	return table([
		['target', ...measured.map(name => FIGURES[name].title), 'added p50 µs'],
		...report.targets.map(({name, figures, addedP50: added}) => [
			name,
			...measured.map(figure => short(figures[figure])),
			short(added),
		]),
	]);
};

const goalsTable = (report: Report): string =>
	table([
		['ratio', 'median', 'least', 'most', 'goal', ''],
		...report.goals.map(({name, value, least, most, goal, state}) => [
			name,
			short(value),
			short(least),
			short(most),
			goal,
			state,
		]),
	]);

const leadsTable = (report: Report): string =>
	table([
		['bridge is ahead of', ...comparedIn(report.topology).map(figure => FIGURES[figure].title), ''],
		...report.peers.map(({peer, figures, behind, state}) => [
			peer,
			...comparedIn(report.topology).map(
				figure => `${short(figures[figure])}${behind.includes(figure) ? ' !' : ''}`,
			),
			state,
		]),
	]);

// Remarks on the reliability of the numbers.
const remarks = (report: Report): string[] =>
	report.targets.flatMap(({name, problem, foreignCores, leftovers, log}) => [
		...(problem ? [`${name}: ${problem}`] : []),
		...(leftovers
			? [`${name}: left ${leftovers} processes after its client disconnected (killed by the bench)`]
			: []),
		...((foreignCores ?? 0) > 0.35
			? [`${name}: other programs used ${short(foreignCores)} cores during its slices`]
			: []),
		...(log
			? [
					`${name}: ${log.messages} of ${log.expected} messages are in the log, ${log.gaps} gaps, ` +
						`at most ${short(log.longestDrainMs)} ms behind` +
						(log.gaps > 0 || log.messages < log.expected ? ': INCOMPLETE, so its ratios do not count' : ''),
				]
			: []),
	]);

export const toText = (report: Report): string =>
	[
		`\n${report.title}: medians of ${report.rounds} rounds, Node ${report.node}, ${report.cores} cores`,
		mediansTable(report),
		'\nGoals (ratios within a round, median over the rounds)',
		goalsTable(report),
		'\nbridge and its peers (times better; "!" is behind)',
		leadsTable(report),
		...report.growth.map(
			({target, calls, tenths}) =>
				`\nCPU µs per call in each tenth of ${calls} calls, ${target}: ${tenths.map(short).join(' ')}`,
		),
		'',
		...remarks(report),
		'',
	].join('\n');
