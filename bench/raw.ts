// npm run bench:raw: compares bridge raw with a direct connection, a bare pipe and other forwarders. See
// README.md.

import {writeFileSync} from 'node:fs';
import {parseArgs} from 'node:util';
import {runFolder, stopEverything, stopOnSignals} from './instance.js';
import {Noise} from './noise.js';
import {onOneCore} from './one-core.js';
import {type RawInstance, startDestination, startRaw} from './raw/instance.js';
import {makeRawReport, type Sample, toRawText} from './raw/report.js';
import {burstSlice, type Figures, longSlice, streamSlice, tripSlice} from './raw/slices.js';
import {rawTargets} from './raw/targets.js';

const HELP = `npm run bench:raw -- [options]

  --rounds N     rounds of measurement (5; with --quick 2)
  --only a,b     only these targets, beside direct: pipe, haproxy, socat, socat -v, mitmdump -w, bridge, bridge+log, bridge+wait
  --quick        short slices, for a smoke check
  --json FILE    write the JSON to FILE instead of stdout
`;

const print = (line: string): void => {
	process.stderr.write(`${line}\n`);
};

const rotated = <T>(list: readonly T[], by: number): T[] => [
	...list.slice(by % list.length),
	...list.slice(0, by % list.length),
];

type Bench = {
	readonly instances: readonly RawInstance[];
	readonly samples: Sample[];
	readonly noise: Noise;
	readonly limits: typeof FULL;
};

const FULL = {
	rounds: 5,
	tripMs: 300,
	tripPasses: 8,
	streamMs: 1000,
	streams: 2,
	bursts: 3,
	longMs: 20_000,
	longRounds: 2,
	retries: 1,
};
const QUICK = {
	...FULL,
	rounds: 2,
	tripPasses: 3,
	streamMs: 700,
	streams: 1,
	bursts: 1,
	longMs: 5000,
	longRounds: 1,
	retries: 0,
};

/** Runs a turn of each instance, in an order that changes with the pass. */
const turns = async (
	{samples, noise}: Bench,
	instances: readonly RawInstance[],
	at: {readonly round: number; readonly pass: number},
	slice: (instance: RawInstance) => Promise<Figures>,
): Promise<void> => {
	for (const instance of rotated(instances, at.round + at.pass)) {
		const {value: figures, foreign} = await noise.calmest(() => slice(instance));
		samples.push({target: instance.target.name, round: at.round, foreign, figures});
	}
};

const measure = async (bench: Bench): Promise<void> => {
	const {instances, limits} = bench;
	const usual = instances.filter(({target}) => !target.isForLong);
	// The first calls are discarded, since code is not compiled and memory not allocated yet.
	for (const instance of instances) {
		await burstSlice(instance);
	}
	for (let round = 0; round < limits.rounds; round++) {
		print(`round ${round + 1} of ${limits.rounds}`);
		for (let pass = 0; pass < limits.streams; pass++) {
			await turns(bench, usual, {round, pass}, one => streamSlice(one, limits.streamMs));
		}
		for (let pass = 0; pass < limits.bursts; pass++) {
			await turns(bench, usual, {round, pass}, burstSlice);
		}
	}
	const long = instances.filter(({target: {name, isForLong}}) => isForLong || name === 'mitmdump -w');
	for (let round = 0; round < limits.longRounds; round++) {
		print(`${limits.longMs / 1000} s at full speed, ${round + 1} of ${limits.longRounds}`);
		await turns(bench, long, {round, pass: 0}, one => longSlice(one, limits.longMs));
	}
	// This comes last, since the scheduler tends to keep processes on the core where they ran.
	await onOneCore(runFolder, async () => {
		for (let round = 0; round < limits.rounds; round++) {
			print(`round trips, ${round + 1} of ${limits.rounds}`);
			for (let pass = 0; pass < limits.tripPasses; pass++) {
				await turns(bench, usual, {round, pass}, one => tripSlice(one, limits.tripMs));
			}
		}
	});
};

const run = async (): Promise<void> => {
	const {values} = parseArgs({
		options: {
			help: {type: 'boolean'},
			quick: {type: 'boolean'},
			rounds: {type: 'string'},
			only: {type: 'string'},
			json: {type: 'string'},
		},
	});
	if (values.help) {
		process.stdout.write(HELP);
		return;
	}
	const usual = values.quick ? QUICK : FULL;
	const limits = {...usual, rounds: Number(values.rounds ?? usual.rounds)};
	const only = values.only?.split(',');
	const {present, absent} = rawTargets();
	if (absent.length > 0) {
		print(`not installed and not measured: ${absent.join(', ')}`);
	}
	const chosen = present.filter(({name}) => name === 'direct' || (only?.includes(name) ?? true));
	const destination = await startDestination();
	const instances: RawInstance[] = [];
	for (const target of chosen) {
		instances.push(await startRaw(target, destination));
	}
	const noise = new Noise(runFolder, limits.retries, values.quick ? 0 : 60_000);
	const bench: Bench = {instances, samples: [], noise, limits};
	await measure(bench);
	await Promise.all(instances.map(instance => instance.stop()));
	const names = chosen.map(({name}) => name);
	const report = makeRawReport(bench.samples, names);
	print(toRawText(report));
	const json = `${JSON.stringify(report)}\n`;
	if (values.json === undefined) {
		process.stdout.write(json);
	} else {
		writeFileSync(values.json, json);
	}
};

stopOnSignals();
try {
	await run();
} catch (error) {
	print(`bench: ${error instanceof Error ? error.message : String(error)}`);
	process.exitCode = 2;
} finally {
	await stopEverything();
}
process.exit();
