import {type Instance, startInstance, stopInstance} from './instance.js';
import {median} from './results.js';
import type {Bench} from './rounds.js';
import {manyAtOnce, measureCost, warmUp} from './slices.js';
import type {Target} from './target.js';

export interface Growth {
	target: string;
	calls: number;
	/** CPU µs of the proxy per call, for each tenth of the run. */
	tenths: number[];
	/** Last tenth ÷ first tenth: 1 if the cost of a message is constant. */
	ratio: number;
}

const WIDTH = 16;
const TENTHS = 10;
const PIECE_MS = 10_000;
const PIECES = 7;
const WARM_UP_CALLS = 10_000;

const runCalls = (instance: Instance, calls: number): Promise<number> => {
	const giveUp = performance.now() + PIECE_MS;
	let left = calls;
	return manyAtOnce(instance, WIDTH, () => left-- > 0 && performance.now() < giveUp);
};

// The cost of a call depends on how many travel together, which varies at random. The median of several
// pieces is steadier than one long piece.
const measureTenth = async (instance: Instance, share: number): Promise<number> => {
	const pieces: number[] = [];
	for (let piece = 0; piece < PIECES; piece++) {
		const cost = await measureCost(instance, PIECE_MS, () => runCalls(instance, share));
		pieces.push(cost.cpuMicrosPerCall);
	}
	return median(pieces) ?? Number.NaN;
};

/** Runs a fresh instance for long. The warm-up comes first, since compilation would hide growth. */
export const measureGrowth = async (bench: Bench, target: Target): Promise<Growth> => {
	const instance = await startInstance(target);
	try {
		await warmUp(instance, bench.limits);
		await runCalls(instance, WARM_UP_CALLS);
		await bench.noise.quiet();
		const share = Math.ceil(bench.limits.growthCalls / TENTHS / PIECES);
		const tenths: number[] = [];
		for (let tenth = 0; tenth < TENTHS; tenth++) {
			tenths.push(await measureTenth(instance, share));
		}
		const ratio = (tenths.at(-1) ?? Number.NaN) / (tenths[0] ?? Number.NaN);
		return {target: target.name, calls: share * PIECES * TENTHS, tenths, ratio};
	} finally {
		await stopInstance(instance);
	}
};
