// npm run bench: compares bridge with a direct connection, a bare pipe and other proxies. See README.md.

import {writeFileSync} from 'node:fs';
import {type Growth, measureGrowth} from './growth.js';
import {runFolder, stopEverything, stopOnSignals} from './instance.js';
import {measureMany} from './many-sessions.js';
import {Noise} from './noise.js';
import {onOneCore} from './one-core.js';
import {HELP, type Options, readOptions} from './options.js';
import {installPeers} from './peers.js';
import {makeReport, type Report, toJson, toText} from './report.js';
import {Results} from './results.js';
import {
	type Bench,
	finishAll,
	measureLatency,
	measureRound,
	measureStarts,
	messageOf,
	startAll,
} from './rounds.js';
import {measureSoak} from './soak.js';
import type {Target} from './target.js';
import {checkNames, chooseTargets, chooseTopologies, type Topology} from './topologies.js';

const print = (line: string): void => {
	process.stderr.write(`${line}\n`);
};

const measure = async (
	bench: Bench,
	topology: Topology,
	targets: Target[],
	rounds: number,
): Promise<Growth[]> => {
	print(topology.title);
	print(`starts: ${bench.limits.starts} each of ${targets.map(target => target.name).join(', ')}`);
	await measureStarts(bench, targets);
	print('warm-up');
	const instances = await startAll(bench, targets);
	for (let round = 0; round < rounds; round++) {
		print(`round ${round + 1} of ${rounds}`);
		await measureRound(bench, instances, round);
	}
	// This comes last, since the scheduler tends to keep processes on the core where they ran.
	await onOneCore(runFolder, async () => {
		for (let round = 0; round < rounds; round++) {
			print(`latency, round ${round + 1} of ${rounds}`);
			await measureLatency(bench, instances, round);
		}
	});
	await finishAll(bench, instances);
	if (topology.name === 'stdio') {
		return measureGrowths(bench, targets);
	}
	// The limit shows the memory of a Node process that stores nothing.
	const chosen = targets.filter(({name}) => name === 'bridge' || name === topology.limit);
	for (const target of chosen.filter(({name}) => !bench.results.problems.has(name))) {
		await measureMemory(bench, target);
	}
	return [];
};

const measureMemory = async (bench: Bench, target: Target): Promise<void> => {
	const {sessions, soakCalls} = bench.limits;
	try {
		if (target.path !== undefined) {
			print(`${sessions} concurrent sessions: ${target.name}`);
			bench.results.add(target.name, 0, 0, await measureMany(target, bench.limits));
		}
		print(`${soakCalls} sequential calls: ${target.name}`);
		bench.results.add(target.name, 0, 0, await measureSoak(target, bench.limits));
	} catch (error) {
		// The verdict is then "not measured"; the results of the rounds are kept.
		print(`${target.name} failed in the memory measurement: ${messageOf(error)}`);
	}
};

// pipe shows the variation of the measurement itself.
const measureGrowths = async (bench: Bench, targets: Target[]): Promise<Growth[]> => {
	const growths: Growth[] = [];
	const chosen = targets.filter(({name}) => name === 'bridge' || name === 'pipe');
	const runs = chosen.length === 0 ? 0 : bench.limits.growthRuns;
	for (let run = 0; run < runs; run++) {
		print(`growth ${run + 1} of ${runs}: ${bench.limits.growthCalls} calls each`);
		for (const target of chosen.filter(({name}) => !bench.results.problems.has(name))) {
			try {
				growths.push(await measureGrowth(bench, target));
			} catch (error) {
				// The verdict is then "not measured"; the results of the rounds are kept.
				print(`${target.name} failed in the growth run: ${messageOf(error)}`);
			}
		}
	}
	return growths;
};

const runTopology = async (options: Options, topology: Topology): Promise<Report> => {
	const targets = chooseTargets(topology, options);
	for (const target of targets.filter(({absent}) => absent)) {
		print(`${target.name} is not installed in bench/ and not measured`);
	}
	const {retries, quietBudgetMs} = options.limits;
	const noise = new Noise(runFolder, retries, quietBudgetMs);
	const bench: Bench = {limits: options.limits, noise, results: new Results(), print};
	const present = targets.filter(target => !target.absent);
	const growths = await measure(bench, topology, present, options.rounds);
	const report = makeReport(options, topology, targets, {results: bench.results, growths});
	print(toText(report));
	if (bench.results.problems.has('bridge')) {
		process.exitCode = 1;
	}
	return report;
};

const run = async (options: Options): Promise<void> => {
	const topologies = chooseTopologies(options);
	checkNames(topologies, options);
	installPeers(print);
	const reports: Report[] = [];
	for (const topology of topologies) {
		reports.push(await runTopology(options, topology));
	}
	if (options.json === undefined) {
		process.stdout.write(toJson(reports));
	} else {
		writeFileSync(options.json, toJson(reports));
	}
};

const start = async (): Promise<void> => {
	stopOnSignals();
	try {
		const options = readOptions(process.argv.slice(2));
		if (options.help) {
			process.stdout.write(HELP);
		} else {
			await run(options);
		}
	} catch (error) {
		print(`bench: ${messageOf(error)}`);
		process.exitCode = 2;
	} finally {
		await stopEverything();
	}
};

await start();
