// npm run bench:view: how soon `bridge view` shows a log of 1 GB, compared with `wc -l`, and its memory. See
// README.md.

import {type ChildProcess, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {writeBigLog} from '../fixtures/big-log.js';
import type {ListedRows} from '../lib/view/page/types.js';

const LINES = 1_000_000;
const BYTES = 2 ** 30;
const ROUNDS = 5;
/** The goals: the ratio to `wc -l`, and megabytes. */
const [MAX_RATIO, MAX_MEGABYTES] = [3, 300];
const bridge = fileURLToPath(new URL('../bin/bridge.js', import.meta.url));

const print = (line: string): void => {
	process.stdout.write(`${line}\n`);
};

const median = (values: readonly number[]): number =>
	[...values].sort((one, other) => one - other)[values.length >> 1] ?? 0;

function countLines(file: string): number {
	const start = performance.now();
	spawnSync('wc', ['-l', file]);
	return performance.now() - start;
}

/** The peak memory of a process, in megabytes. */
const peakMegabytes = ({pid}: ChildProcess): number =>
	Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

type Look = {readonly firstMs: number; readonly allMs: number; readonly megabytes: number};

/** Measures the time from the start of the program to the first rows of the page, and to all rows. */
async function look(file: string): Promise<Look> {
	const start = performance.now();
	const child = spawn(process.execPath, [bridge, 'view', file], {stdio: ['ignore', 'pipe', 'ignore']});
	const [line] = (await once(child.stdout, 'data')) as [Buffer];
	const url = new URL(line.toString().trim());
	const headers = {'x-bridge-token': url.searchParams.get('token') ?? ''};
	const rows = async (query: string): Promise<ListedRows> =>
		(await (await fetch(new URL(`/view/rows?${query}`, url), {headers})).json()) as ListedRows;
	while ((await rows('count=50')).rows.length < 50) await pause(5);
	const firstMs = performance.now() - start;
	while ((await rows('count=1')).total < LINES) await pause(50);
	const allMs = performance.now() - start;
	// Reads at the end, of errors and by search are included in the memory.
	await rows(`from=${LINES - 50}&count=50`);
	while ((await rows('count=50&show=errors&text=tempor')).share < 1) await pause(50);
	const megabytes = peakMegabytes(child);
	child.kill('SIGTERM');
	await once(child, 'close');
	return {firstMs, allMs, megabytes};
}

const folder = mkdtempSync(join(tmpdir(), 'bridge-bench-view-'));
try {
	const file = join(folder, 'big.ndjson');
	writeBigLog(file, LINES, BYTES);
	countLines(file);
	const counts: number[] = [];
	const looks: Look[] = [];
	for (let round = 0; round < ROUNDS; round++) {
		counts.push(countLines(file));
		looks.push(await look(file));
	}
	const [counted, first, all, megabytes] = [
		median(counts),
		median(looks.map(({firstMs}) => firstMs)),
		median(looks.map(({allMs}) => allMs)),
		Math.max(...looks.map(each => each.megabytes)),
	];
	const ratio = first / counted;
	print(`wc -l                        ${counted.toFixed(0).padStart(6)} ms`);
	print(
		`first rows                   ${first.toFixed(0).padStart(6)} ms   ${ratio.toFixed(2)} × wc -l (goal: < ${MAX_RATIO})`,
	);
	print(`all ${LINES} messages         ${all.toFixed(0).padStart(6)} ms`);
	print(`peak memory, with a search   ${megabytes.toFixed(0).padStart(6)} MB   (goal: < ${MAX_MEGABYTES})`);
	process.exitCode = ratio < MAX_RATIO && megabytes < MAX_MEGABYTES ? 0 : 1;
} finally {
	rmSync(folder, {recursive: true, force: true});
}
