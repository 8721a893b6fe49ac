import {type Instance, startInstance, stopInstance} from './instance.js';
import type {Limits} from './options.js';
import {proxyUsage} from './process-stats.js';
import {median} from './results.js';
import {oneByOne, SMALL, type Values} from './slices.js';
import type {Target} from './target.js';

const PIECES = 100;
const PIECE_MS = 30_000;
const TENTH = 10;

// The slope of the least-squares line.
const slopeOf = (values: number[]): number => {
	const middle = (values.length - 1) / 2;
	const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
	const over = values.reduce((sum, value, at) => sum + (at - middle) * (value - mean), 0);
	return over / values.reduce((sum, _value, at) => sum + (at - middle) ** 2, 0);
};

const watch = async (instance: Instance, calls: number): Promise<number[]> => {
	const share = Math.ceil(calls / PIECES);
	const memory: number[] = [];
	for (let piece = 0; piece < PIECES; piece++) {
		await oneByOne(instance, {
			tool: instance.tools.echo,
			argumentsJson: SMALL,
			atLeast: 100,
			calls: share,
			ms: PIECE_MS,
		});
		memory.push(proxyUsage(instance.client.pid, instance.folder).rssMegabytes);
	}
	return memory;
};

/**
 * Measures memory during many sequential calls: the ratio of the last tenth to the tenth at half time, and
 * the growth in the second half. The heap finds its size in the first half.
 */
export const measureSoak = async (target: Target, limits: Limits): Promise<Values> => {
	const instance = await startInstance(target);
	try {
		const memory = await watch(instance, limits.soakCalls);
		const late = median(memory.slice(-TENTH)) ?? Number.NaN;
		const midway = median(memory.slice(PIECES / 2, PIECES / 2 + TENTH)) ?? Number.NaN;
		const perPiece = slopeOf(memory.slice(PIECES / 2)) * 1024;
		return {soakRatio: late / midway, soakSlope: (perPiece * PIECES * 1000) / limits.soakCalls};
	} finally {
		await stopInstance(instance);
	}
};
