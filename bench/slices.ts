import {withTimeout} from './client.js';
import type {Instance} from './instance.js';
import type {Limits} from './options.js';
import {proxyUsage} from './process-stats.js';
import type {CallResult} from './response.js';
import type {Figure} from './results.js';

export type Values = Partial<Record<Figure, number>>;
export type Slice = (instance: Instance, limits: Limits) => Promise<Values>;

export const WIDTH = 64;
const SLACK_MS = 90_000;
const LEAD_IN = 20;
const WARM_UP_MS = 20_000;
const MEGABYTE = 1_000_000;
const LINE = 'The quick brown fox said "hello" to the lazy dog and left; cost = 12.5%.\n';
const payload = (size: number): string =>
	JSON.stringify({payload: LINE.repeat(Math.ceil(size / LINE.length)).slice(0, size)});
export const SMALL = payload(100);
const BIG = payload(MEGABYTE);
const WANT_BIG = `{"bytes":${MEGABYTE}}`;

/** Throws for a missing or truncated response. */
export const checkResult = (result: CallResult, atLeast: number): void => {
	if (!result.ok || result.size < atLeast) {
		throw new Error(`a call failed (${result.size} bytes): ${result.why ?? 'the result is too short'}`);
	}
};

const quantile = (sorted: number[], part: number): number =>
	sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;

interface Cost {
	calls: number;
	seconds: number;
	cpuMicrosPerCall: number;
}

// The first calls after a pause meet cold caches, so some unmeasured ones come first.
const leadIn = async (instance: Instance): Promise<void> => {
	for (let call = 0; call < LEAD_IN; call++) {
		checkResult(await instance.client.call(instance.tools.echo, SMALL), 100);
	}
};

/**
 * Measures time and proxy CPU of some calls. Waits for the log before reading the CPU, since writing it is
 * part of the cost.
 */
export const measureCost = async (
	instance: Instance,
	limitMs: number,
	run: () => Promise<number>,
): Promise<Cost> => {
	await withTimeout(leadIn(instance), SLACK_MS, `the lead-in of ${instance.target.name}`);
	const before = proxyUsage(instance.client.pid, instance.folder).cpuMicros;
	const start = performance.now();
	const calls = await withTimeout(run(), limitMs + SLACK_MS, `a slice of ${instance.target.name}`);
	const seconds = (performance.now() - start) / 1000;
	await instance.log?.drain();
	const cpu = proxyUsage(instance.client.pid, instance.folder).cpuMicros - before;
	instance.log?.collect((calls + LEAD_IN) * 2);
	return {calls, seconds, cpuMicrosPerCall: cpu / calls};
};

export interface Sequence {
	tool: string;
	argumentsJson: string;
	atLeast: number;
	calls: number;
	ms: number;
}

/** Makes sequential calls, and returns their times in ms. */
export const oneByOne = async (instance: Instance, sequence: Sequence): Promise<number[]> => {
	const times: number[] = [];
	const giveUp = performance.now() + sequence.ms;
	for (let at = performance.now(); times.length < sequence.calls && at < giveUp; ) {
		checkResult(await instance.client.call(sequence.tool, sequence.argumentsJson), sequence.atLeast);
		const now = performance.now();
		times.push(now - at);
		at = now;
	}
	return times;
};

/** Runs `width` concurrent callers until `more` returns false. Returns the number of calls. */
export const manyAtOnce = async (instance: Instance, width: number, more: () => boolean): Promise<number> => {
	let calls = 0;
	const caller = async (): Promise<void> => {
		while (more()) {
			checkResult(await instance.client.call(instance.tools.echo, SMALL), 100);
			calls++;
		}
	};
	await Promise.all(Array.from({length: width}, caller));
	return calls;
};

export const sequentialSlice: Slice = async (instance, {sequentialCalls: calls, sequentialMs: ms}) => {
	let times: number[] = [];
	const cost = await measureCost(instance, ms, async () => {
		times = await oneByOne(instance, {
			tool: instance.tools.echo,
			argumentsJson: SMALL,
			atLeast: 100,
			calls,
			ms,
		});
		return times.length;
	});
	times.sort((a, b) => a - b);
	return {
		p50: quantile(times, 0.5) * 1000,
		p99: quantile(times, 0.99) * 1000,
		cpuSequential: cost.cpuMicrosPerCall,
	};
};

export const concurrentSlice: Slice = async (instance, {concurrentMs}) => {
	const cost = await measureCost(instance, concurrentMs, () => {
		const end = performance.now() + concurrentMs;
		return manyAtOnce(instance, WIDTH, () => performance.now() < end);
	});
	return {callsPerSecond: cost.calls / cost.seconds, cpuConcurrent: cost.cpuMicrosPerCall};
};

const bigSlice = async (
	instance: Instance,
	limits: Limits,
	tool: string,
	argumentsJson: string,
): Promise<Cost> => {
	const {bigCalls: calls, bigMs: ms} = limits;
	return measureCost(instance, ms, async () => {
		const times = await oneByOne(instance, {tool, argumentsJson, atLeast: MEGABYTE, calls, ms});
		return times.length;
	});
};

export const bigResultSlice: Slice = async (instance, limits) => {
	const cost = await bigSlice(instance, limits, instance.tools.blob, WANT_BIG);
	return {resultRate: cost.calls / cost.seconds, cpuResult: cost.cpuMicrosPerCall};
};

export const bigEchoSlice: Slice = async (instance, limits) => {
	const cost = await bigSlice(instance, limits, instance.tools.echo, BIG);
	// Sampled right after the peak, since idle processes release memory.
	return {
		echoRate: cost.calls / cost.seconds,
		rss: proxyUsage(instance.client.pid, instance.folder).rssMegabytes,
	};
};

/** Warms up each kind of call, since Node compiles hot code late. */
export const warmUp = async (instance: Instance, limits: Limits): Promise<void> => {
	const {warmUpCalls: calls} = limits;
	await sequentialSlice(instance, {...limits, sequentialCalls: calls});
	// Limited by count, since a busy machine may make too few calls in a given time. Peers are far from any
	// goal's limit.
	let left = instance.target.role === 'peer' ? calls : 5 * calls;
	const giveUp = performance.now() + WARM_UP_MS;
	await manyAtOnce(instance, WIDTH, () => left-- > 0 && performance.now() < giveUp);
	try {
		await bigResultSlice(instance, {...limits, bigCalls: 5});
		await bigEchoSlice(instance, {...limits, bigCalls: 5});
	} catch (error) {
		if (instance.target.role !== 'peer') {
			throw error;
		}
		// Some proxies cannot forward messages of this size. The other figures are still measured.
		instance.isForSmall = true;
	}
};
