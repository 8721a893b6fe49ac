import {proxyUsage} from '../process-stats.js';
import {median} from '../results.js';
import {type RawInstance, settle} from './instance.js';
import {download, roundTrips} from './load.js';

/** A figure is a number for a round, by its name. */
export type Figures = {readonly [name: string]: number};

/** Fits into the buffer of 256 MiB that a log has by default. */
const BURST_BYTES = 200e6;
const BURST_MS = 1500;
const ENDLESS = 1e12;
const SAMPLE_MS = 250;

/** What it cost, where that can be told: what a process has used that has ended since is not known. */
const cost = (name: string, cpuMicros: number, bytes: number): Figures =>
	cpuMicros > 0 ? {[name]: cpuMicros / 1000 / (bytes / 1e6)} : {};

/** Small messages there and back. */
export const tripSlice = async ({port}: RawInstance, ms: number): Promise<Figures> => ({
	p50: await roundTrips(port, ms),
});

/** As much as it can for a time, and what that costs it. A log may fall behind, and lose lines. */
export const streamSlice = async (instance: RawInstance, ms: number): Promise<Figures> => {
	const {cpuMicros} = proxyUsage(instance.pid, instance.folder);
	const {bytes, mbPerSecond} = await download(instance.port, ENDLESS, ms);
	const cpu = proxyUsage(instance.pid, instance.folder).cpuMicros - cpuMicros;
	await settle(instance);
	return {stream: mbPerSecond, ...cost('streamCpu', cpu, bytes)};
};

/** What a log can hold in memory, which has to be whole then. The CPU is also that of writing it. */
export const burstSlice = async (instance: RawInstance): Promise<Figures> => {
	const {cpuMicros} = proxyUsage(instance.pid, instance.folder);
	const {bytes, mbPerSecond} = await download(instance.port, BURST_BYTES, BURST_MS);
	const {isWhole} = await settle(instance);
	const cpu = proxyUsage(instance.pid, instance.folder).cpuMicros - cpuMicros;
	return isWhole ? {burst: mbPerSecond, ...cost('burstCpu', cpu, bytes)} : {};
};

/** As much as it can for a long time: its speed, and whether memory grows in the second half of that. */
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
