import {type Instance, startInstance, stopInstance} from './instance.js';
import type {Noise} from './noise.js';
import type {Limits} from './options.js';
import type {Results} from './results.js';
import {
	bigEchoSlice,
	bigResultSlice,
	concurrentSlice,
	type Slice,
	sequentialSlice,
	warmUp,
} from './slices.js';
import type {Target} from './target.js';

export interface Bench {
	limits: Limits;
	noise: Noise;
	results: Results;
	print(line: string): void;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

// Each round starts with another target, so that none always follows the same one.
const rotate = <T>(list: T[], by: number): T[] => {
	const at = list.length === 0 ? 0 : by % list.length;
	return [...list.slice(at), ...list.slice(0, at)];
};

/** Starts each target afresh, in alternation. */
export const measureStarts = async (bench: Bench, targets: Target[]): Promise<void> => {
	for (let round = 0; round < bench.limits.starts; round++) {
		for (const target of rotate(targets, round)) {
			await measureStart(bench, target, round);
		}
	}
};

const measureStart = async ({noise, results, print}: Bench, target: Target, round: number): Promise<void> => {
	if (results.problems.has(target.name)) {
		return;
	}
	try {
		const {value, foreign} = await noise.calmest(
			() => startInstance(target),
			async instance => results.addLeftovers(target.name, await stopInstance(instance)),
		);
		results.add(target.name, round, foreign, {startMs: value.startMs, readyMs: value.readyMs});
	} catch (error) {
		results.problems.set(target.name, messageOf(error));
		print(`${target.name} does not start: ${messageOf(error)}`);
	}
};

/** Starts one instance of each target. It lives through all rounds, mostly idle. */
export const startAll = async (bench: Bench, targets: Target[]): Promise<Instance[]> => {
	const instances: Instance[] = [];
	for (const target of targets.filter(({name}) => !bench.results.problems.has(name))) {
		try {
			const instance = await startInstance(target);
			instances.push(instance);
			await warmUp(instance, bench.limits);
		} catch (error) {
			bench.results.problems.set(target.name, messageOf(error));
			bench.print(`${target.name} failed in the warm-up: ${messageOf(error)}`);
		}
	}
	return instances;
};

// Alternates targets within each kind of slice, in short turns, so that compared samples are a second apart,
// not minutes. Direct is first and last, since each added latency is a difference to it. pipe and bridge are
// neighbors, since the goals compare them. Peers are far from any goal's limit and have one turn per round.
const orderFor = (instances: Instance[], turn: number, withPeers: boolean): Instance[] => {
	const direct = instances.filter(({target}) => target.role === 'direct');
	const close = instances.filter(({target}) => target.role === 'limit' || target.role === 'ours');
	const peers = withPeers ? instances.filter(({target}) => target.role === 'peer') : [];
	const neighbours = rotate(close, turn);
	const others = rotate(peers, turn);
	return [
		...direct,
		...(turn % 2 === 0 ? [...neighbours, ...others] : [...others, ...neighbours]),
		...direct,
	];
};

export const measureRound = async (bench: Bench, instances: Instance[], round: number): Promise<void> => {
	for (const slice of [concurrentSlice, bigResultSlice, bigEchoSlice]) {
		await measureKind(bench, instances, slice, round, bench.limits.passes);
	}
};

/** Measures single calls. */
export const measureLatency = (bench: Bench, instances: Instance[], round: number): Promise<void> =>
	measureKind(bench, instances, sequentialSlice, round, bench.limits.latencyPasses);

const measureKind = async (
	bench: Bench,
	instances: Instance[],
	slice: Slice,
	round: number,
	passes: number,
): Promise<void> => {
	await bench.noise.quiet();
	for (let pass = 0; pass < passes; pass++) {
		const isBig = slice === bigResultSlice || slice === bigEchoSlice;
		const able = instances.filter(({isForSmall}) => !(isBig && isForSmall));
		for (const instance of orderFor(able, round * passes + pass, pass === 0)) {
			await measureSlice(bench, instance, slice, round);
		}
	}
};

const measureSlice = async (bench: Bench, instance: Instance, slice: Slice, round: number): Promise<void> => {
	const {name, role} = instance.target;
	if (bench.results.problems.has(name)) {
		return;
	}
	try {
		const {value, foreign} = await bench.noise.calmest(() => slice(instance, bench.limits));
		// Direct has no proxy, so its CPU and memory would be meaningless zeros.
		const kept = Object.entries(value).filter(([figure]) => role !== 'direct' || !/^cpu|^rss/.test(figure));
		bench.results.add(name, round, foreign, Object.fromEntries(kept));
	} catch (error) {
		bench.results.problems.set(name, messageOf(error));
		bench.print(`${name} failed in round ${round + 1}: ${messageOf(error)}`);
	}
};

/** Waits for the last log lines, and stops each instance. */
export const finishAll = async ({results}: Bench, instances: Instance[]): Promise<void> => {
	for (const instance of instances) {
		const {name} = instance.target;
		if (instance.log !== undefined) {
			await instance.log.finish();
			results.logs.set(name, instance.log.check);
		}
	}
	for (const instance of instances) {
		results.addLeftovers(instance.target.name, await stopInstance(instance));
	}
};
