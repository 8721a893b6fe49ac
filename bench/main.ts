// npm run bench: bridge beside a direct connection, a bare pipe and other proxies. See README.md.

import {writeFileSync} from 'node:fs';
import {type Growth, measureGrowth} from './growth.js';
import {runFolder, stopEverything} from './instance.js';
import {Noise} from './noise.js';
import {onOneCore} from './one-core.js';
import {HELP, type Options, readOptions} from './options.js';
import {installPeers} from './peers.js';
import {makeReport, toJson, toText} from './report.js';
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
import {chooseTargets, type Target} from './targets.js';
import {measureListTranslation} from './translation.js';

const say = (line: string): void => {
	process.stderr.write(`${line}\n`);
};

const measure = async (bench: Bench, targets: Target[], rounds: number): Promise<Growth[]> => {
	say(`starts: ${bench.limits.starts} of each of ${targets.map(target => target.name).join(', ')}`);
	await measureStarts(bench, targets);
	say('warm-up');
	const instances = await startAll(bench, targets);
	for (let round = 0; round < rounds; round++) {
		say(`round ${round + 1} of ${rounds}`);
		await measureRound(bench, instances, round);
	}
	// Last, since where processes have been is where the system keeps them for a while.
	await onOneCore(runFolder, async () => {
		for (let round = 0; round < rounds; round++) {
			say(`latency, round ${round + 1} of ${rounds}`);
			await measureLatency(bench, instances, round);
		}
	});
	await finishAll(bench, instances);
	return measureGrowths(bench, targets);
};

// pipe is beside bridge to show what the measurement itself varies by.
const measureGrowths = async (bench: Bench, targets: Target[]): Promise<Growth[]> => {
	const growths: Growth[] = [];
	const chosen = targets.filter(({name}) => name === 'bridge' || name === 'pipe');
	const runs = chosen.length === 0 ? 0 : bench.limits.growthRuns;
	for (let run = 0; run < runs; run++) {
		say(`growth ${run + 1} of ${runs}: ${bench.limits.growthCalls} calls each`);
		for (const target of chosen.filter(({name}) => !bench.results.problems.has(name))) {
			try {
				growths.push(await measureGrowth(bench, target));
			} catch (error) {
				// Its verdict is then «not measured»; the rounds before it are not lost.
				say(`${target.name} failed in the growth run: ${messageOf(error)}`);
			}
		}
	}
	return growths;
};

const run = async (options: Options): Promise<void> => {
	installPeers(say);
	const targets = chooseTargets(options);
	const absent = targets.filter(target => target.absent);
	for (const target of absent) {
		say(`${target.name} is not installed in bench/: it is not measured`);
	}
	const {retries, quietBudgetMs} = options.limits;
	const noise = new Noise(runFolder, retries, quietBudgetMs);
	const bench: Bench = {limits: options.limits, noise, results: new Results(), say};
	const present = targets.filter(target => !target.absent);
	const growths = await measure(bench, present, options.rounds);
	const report = makeReport(options, targets, bench.results, growths, measureListTranslation());
	say(toText(report));
	if (options.json === undefined) {
		process.stdout.write(toJson(report));
	} else {
		writeFileSync(options.json, toJson(report));
	}
	if (bench.results.problems.has('bridge')) {
		process.exitCode = 1;
	}
};

const start = async (): Promise<void> => {
	for (const [signal, code] of [
		['SIGINT', 130],
		['SIGTERM', 143],
	] as const) {
		process.once(signal, () => {
			const exit = (): never => process.exit(code);
			stopEverything().then(exit, exit);
		});
	}
	try {
		const options = readOptions(process.argv.slice(2));
		if (options.help) {
			process.stdout.write(HELP);
		} else {
			await run(options);
		}
	} catch (error) {
		say(`bench: ${messageOf(error)}`);
		process.exitCode = 2;
	} finally {
		await stopEverything();
	}
};

await start();
