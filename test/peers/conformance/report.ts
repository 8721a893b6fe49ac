import type {Outcomes} from './suites.js';

/** A run through bridge and the same run without it. */
export interface Comparison {
	/** The name of the run, such as `2024-11-05 over stdio, 0.1.16 all`. */
	readonly name: string;
	readonly direct: Outcomes;
	readonly through: Outcomes;
}

/** A scenario that passes directly and fails through bridge, with its reasons. */
export interface Loss {
	readonly scenario: string;
	readonly failures: readonly string[];
}

const passes = (outcomes: Outcomes, scenario: string): boolean =>
	outcomes.get(scenario)?.failures.length === 0;

/** Returns the scenarios that fail only through bridge. A scenario without a result counts as failed. */
export function lossesOf({direct, through}: Comparison): Loss[] {
	return [...direct.keys()]
		.filter(scenario => passes(direct, scenario) && !passes(through, scenario))
		.map(scenario => ({
			scenario,
			failures: through.get(scenario)?.failures ?? ['no result'],
		}));
}

const countPassing = (outcomes: Outcomes, scenarios: readonly string[]): number =>
	scenarios.filter(scenario => passes(outcomes, scenario)).length;

const countChecks = (outcomes: Outcomes, scenarios: readonly string[]): number =>
	scenarios.reduce((sum, scenario) => sum + (outcomes.get(scenario)?.passed ?? 0), 0);

/** Groups the losses: the same fault often occurs in many runs. */
function describeLosses(comparisons: readonly Comparison[]): string[] {
	const runs = new Map<string, string[]>();
	for (const comparison of comparisons) {
		for (const {scenario, failures} of lossesOf(comparison)) {
			const fault = [`\n${scenario}`, ...failures.map(failure => `\t${failure}`)].join('\n');
			runs.set(fault, [...(runs.get(fault) ?? []), comparison.name]);
		}
	}

	return [...runs].map(([fault, names]) => [fault, ...names.map(name => `\tin: ${name}`)].join('\n'));
}

/** Scenarios that pass with fewer checks than directly: not a failure, but weaker evidence. */
function describeWeaker(comparisons: readonly Comparison[]): string[] {
	const runs = new Map<string, number>();
	for (const {direct, through} of comparisons) {
		for (const [scenario, {passed}] of direct) {
			const checks = through.get(scenario)?.passed ?? 0;
			if (checks >= passed || !passes(direct, scenario) || !passes(through, scenario)) continue;
			const what = `${scenario} passes with ${checks} checks, directly with ${passed}`;
			runs.set(what, (runs.get(what) ?? 0) + 1);
		}
	}

	return [...runs].map(([what, count]) => `note: ${what} (${count} of ${comparisons.length} runs)`);
}

/** One line per run, then each loss with its reasons. */
export function report(comparisons: readonly Comparison[]): string {
	const width = Math.max(...comparisons.map(({name}) => name.length));
	const lines = comparisons.map(comparison => {
		const {name, direct, through} = comparison;
		const losses = lossesOf(comparison);
		const verdict = losses.length === 0 ? 'ok' : `${losses.length} LOST`;
		const names = [...direct.keys()];
		const [scenarios, checks] = [countPassing, countChecks].map(
			count => `${count(through, names)}, directly ${count(direct, names)}`,
		);
		return `${name.padEnd(width)}  of ${names.length} scenarios ${scenarios}; checks ${checks}  ${verdict}`;
	});
	return [...lines, ...describeWeaker(comparisons), ...describeLosses(comparisons), ''].join('\n');
}
