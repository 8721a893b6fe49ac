// npm run bench:run: the cost that `run` adds to a tool call, with and without the interpreter. See
// README.md.

import {monitorEventLoopDelay} from 'node:perf_hooks';
import {createLog} from '../lib/core/log.js';
import {createRunner} from '../lib/run/runner.js';
import type {Pack, Runner, RunResult} from '../lib/run/types.js';
import {median} from './results.js';
import {type GatewayTimes, measureThroughGateway} from './run-gateway.js';

const PLAIN_TURNS = 2000;
const WARM_TURNS = 60;
const CALLS_IN_ONE = 90;
const PARALLEL = 20;
const MB = 1024 * 1024;

const sites = Array.from({length: 10}, (_, at) => ({id: `s${at}`, name: `Site ${at}`, items: at}));
const result = {content: [{type: 'text', text: JSON.stringify(sites)}]};
const never = new AbortController().signal;

const pack: Pack = {
	name: 'wix',
	source: 'proxied',
	tools: [
		{name: 'list_sites', inputSchema: {type: 'object', properties: {limit: {type: 'integer'}}}},
		{name: 'hang', inputSchema: {type: 'object'}},
	],
	call: async () => result,
};

const print = (line: string): void => {
	process.stderr.write(`${line}\n`);
};

const rss = (): number => Math.round(process.memoryUsage.rss() / MB);

const timeOf = async (work: () => Promise<unknown>): Promise<number> => {
	const start = performance.now();
	await work();
	return performance.now() - start;
};

const p50 = (times: readonly number[]): number => median([...times]) ?? Number.NaN;

const check = ({isError, content}: RunResult): void => {
	if (isError) {
		throw new Error(JSON.stringify(content));
	}
};

/**
 * Measures the same call without and with `run` in alternation, so that compared samples are close in
 * time.
 */
const measurePlain = async (runner: Runner): Promise<{directMs: number; plainMs: number}> => {
	const direct: number[] = [];
	const plain: number[] = [];
	for (let turn = 0; turn < PLAIN_TURNS; turn++) {
		direct.push(await timeOf(() => pack.call('list_sites', {limit: 5}, never)));
		plain.push(await timeOf(async () => check(await runner.run('wix.list_sites(limit=5)'))));
	}
	return {directMs: p50(direct), plainMs: p50(plain)};
};

/** Measures one program of each kind, each with a prepared interpreter. */
const measureWarm = async (runner: Runner): Promise<{warmMs: number; furtherCallMs: number}> => {
	const one: number[] = [];
	const many: number[] = [];
	const loop = `for _ in range(${CALLS_IN_ONE}): wix.list_sites()\n1`;
	for (let turn = 0; turn < WARM_TURNS; turn++) {
		await runner.warmUp();
		one.push(await timeOf(async () => check(await runner.run('[site.name for site in wix.list_sites()]'))));
		if (turn % 6 === 0) {
			await runner.warmUp();
			many.push(await timeOf(async () => check(await runner.run(loop))));
		}
	}
	return {warmMs: p50(one), furtherCallMs: (p50(many) - p50(one)) / (CALLS_IN_ONE - 1)};
};

/** Measures many concurrent programs, and the event loop delay of this process meanwhile. */
const measureParallel = async (
	runner: Runner,
): Promise<{parallelMs: number; lateMs: number; peakMb: number}> => {
	const late = monitorEventLoopDelay({resolution: 5});
	late.enable();
	let peak = 0;
	const watch = setInterval(() => {
		peak = Math.max(peak, rss());
	}, 20);
	const parallelMs = await timeOf(() =>
		Promise.all(
			Array.from({length: PARALLEL}, async (_, at) =>
				check(await runner.run(`x = ${at}\nsum(range(x * 1000))`)),
			),
		),
	);
	late.disable();
	clearInterval(watch);
	return {parallelMs, lateMs: late.percentile(99) / 1e6, peakMb: peak};
};

const verdict = (value: number, goal: number): string => (value < goal ? 'met' : 'missed');

/** Measures the same end to end, through the built program. */
const throughGateway = async (): Promise<GatewayTimes> => {
	const times = await measureThroughGateway();
	const {serviceMs, toolMs, runMs, addedMs, programMs, idleMb, peakMb} = times;
	print('through the built gateway in front of a stdio server, over HTTP (p50):');
	print(
		`  the call at its service ${serviceMs.toFixed(2)} ms, as a tool of the hub ${toolMs.toFixed(2)} ms, in run ${runMs.toFixed(2)} ms`,
	);
	print(`  run adds ${addedMs.toFixed(2)} ms, goal < 2 ms: ${verdict(addedMs, 2)}`);
	print(`  a program in the interpreter ${programMs.toFixed(2)} ms, goal < 15 ms: ${verdict(programMs, 15)}`);
	print(
		`  memory: ${idleMb} MB with a prepared interpreter, at most ${peakMb} MB with ${PARALLEL} concurrent programs`,
	);
	return times;
};

const start = async (): Promise<void> => {
	const log = createLog({level: 'error', write: line => process.stderr.write(line), isPretty: true});
	const runner = createRunner({packs: () => [pack], log, runTimeoutMs: 120_000});
	const before = rss();
	check(await runner.run('wix.list_sites()'));
	const plain = await measurePlain(runner);
	const addedMs = plain.plainMs - plain.directMs;
	print(
		`plain call: direct ${plain.directMs.toFixed(4)} ms, through run ${plain.plainMs.toFixed(4)} ms (p50)`,
	);
	print(`  added ${addedMs.toFixed(4)} ms, goal < 2 ms: ${verdict(addedMs, 2)}`);
	const coldMs = await timeOf(async () => check(await runner.run('[1 for _ in wix.list_sites()]')));
	await runner.warmUp();
	const ready = rss();
	const warm = await measureWarm(runner);
	print(
		`interpreter: first program ${coldMs.toFixed(0)} ms, when prepared ${warm.warmMs.toFixed(2)} ms (p50)`,
	);
	print(`  goal < 15 ms: ${verdict(warm.warmMs, 15)}; each further call ${warm.furtherCallMs.toFixed(3)} ms`);
	const parallel = await measureParallel(runner);
	print(
		`${PARALLEL} concurrent programs: ${parallel.parallelMs.toFixed(0)} ms, event loop delay ${parallel.lateMs.toFixed(1)} ms (p99)`,
	);
	print(
		`memory: ${before} MB before, ${ready} MB with a prepared interpreter, at most ${parallel.peakMb} MB`,
	);
	const memory = {beforeMb: before, readyMb: ready, peakMb: parallel.peakMb};
	await runner.close();
	const gateway = await throughGateway();
	process.stdout.write(
		`${JSON.stringify({...plain, addedMs, coldMs, ...warm, ...parallel, ...memory, gateway})}\n`,
	);
};

await start();
