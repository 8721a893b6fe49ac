import {proxyUsage} from '../process-stats.js';
import {median} from '../results.js';
import {type RawInstance, settle} from './instance.js';
import {download, roundTrips} from './load.js';

/** The numbers of a round, by figure. */
export type Figures = {readonly [name: string]: number};

/** Fits into a log's default buffer of 256 MiB. */
const BURST_BYTES = 200e6;
const BURST_MS = 1500;
const ENDLESS = 1e12;
const SAMPLE_MS = 250;

/** The CPU cost, if known: it excludes processes that have exited. */
const cost = (name: string, cpuMicros: number, bytes: number): Figures =>
	cpuMicros > 0 ? {[name]: cpuMicros / 1000 / (bytes / 1e6)} : {};

/** Measures round trips of small messages. */
export const tripSlice = async ({port}: RawInstance, ms: number): Promise<Figures> => ({
	p50: await roundTrips(port, ms),
});

/** Measures full speed for a given time, and its cost. A log may fall behind and drop lines. */
export const streamSlice = async (instance: RawInstance, ms: number): Promise<Figures> => {
	const {cpuMicros} = proxyUsage(instance.pid, instance.folder);
	const {bytes, mbPerSecond} = await download(instance.port, ENDLESS, ms);
	const cpu = proxyUsage(instance.pid, instance.folder).cpuMicros - cpuMicros;
	await settle(instance);
	return {stream: mbPerSecond, ...cost('streamCpu', cpu, bytes)};
};

/**
 * Measures a burst that fits into the log buffer, so that the log must be complete. The CPU includes
 * writing it.
 */
export const burstSlice = async (instance: RawInstance): Promise<Figures> => {
	const {cpuMicros} = proxyUsage(instance.pid, instance.folder);
	const {bytes, mbPerSecond} = await download(instance.port, BURST_BYTES, BURST_MS);
	const {isWhole} = await settle(instance);
	const cpu = proxyUsage(instance.pid, instance.folder).cpuMicros - cpuMicros;
	return isWhole ? {burst: mbPerSecond, ...cost('burstCpu', cpu, bytes)} : {};
};

/** Measures full speed for a long time, and the memory growth in its second half. */
export const longSlice = async (instance: RawInstance, ms: number): Promise<Figures> => {
	const memory: number[] = [];
	const timer = setInterval(
		() => memory.push(proxyUsage(instance.pid, instance.folder).rssMegabytes),
		SAMPLE_MS,
	);
	const {cpuMicros} = proxyUsage(instance.pid, instance.folder);
	const start = Date.now();
	const {bytes, mbPerSecond} = await download(instance.port, ENDLESS, ms);
	clearInterval(timer);
	const cpu = proxyUsage(instance.pid, instance.folder).cpuMicros - cpuMicros;
	const {isWhole, writtenAt} = await settle(instance);
	const quarter = Math.floor(memory.length / 4);
	const late = median(memory.slice(-quarter)) ?? Number.NaN;
	const midway = median(memory.slice(quarter, 2 * quarter)) ?? Number.NaN;
	return {
		...(isWhole ? {long: mbPerSecond, longLogged: bytes / 1000 / (writtenAt - start)} : {}),
		...cost('longCpu', cpu, bytes),
		longRss: late,
		longGrowth: late / midway,
	};
};
