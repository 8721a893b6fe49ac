/**
 * The end-to-end cost of `run`: the same call of the same server through the built gateway, made at its
 * service, as a tool of the hub, and in `run`.
 */
import {readFileSync} from 'node:fs';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {freePort} from './free-port.js';
import {listening} from './http-client.js';
import {HttpSession} from './http-session.js';
import {Program} from './program.js';
import type {CallResult} from './response.js';
import {median} from './results.js';

const TURNS = 600;
const WARM_TURNS = 40;
/** Long enough to prepare the next interpreter on a quiet machine. */
const REFILL_MS = 250;
const VERSION = '2025-11-25';
const PATIENCE_MS = 30_000;
const PARALLEL = 20;

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const timed = async (call: () => Promise<CallResult>): Promise<number> => {
	const start = performance.now();
	const {ok, why} = await call();
	if (!ok) throw new Error(why);
	return performance.now() - start;
};

const p50 = (times: readonly number[]): number => median([...times]) ?? Number.NaN;

/** The current or peak memory of a process, in MB. */
const memoryOf = (pid: number, what: 'VmRSS' | 'VmHWM'): number =>
	Math.round(
		Number(new RegExp(`${what}:\\s*(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
	);

/** Wall-clock times in ms, each the median of its turns. */
export type GatewayTimes = {
	readonly serviceMs: number;
	readonly toolMs: number;
	readonly runMs: number;
	/** The median of the time that `run` takes beyond the same call just before it. */
	readonly addedMs: number;
	readonly programMs: number;
	readonly idleMb: number;
	readonly peakMb: number;
};

type Calls = {readonly [name in 'service' | 'tool' | 'run' | 'program']: () => Promise<CallResult>};

/** Measures the variants in alternation, so that compared samples are close in time. */
async function measure({service, tool, run, program}: Calls) {
	const times: Array<readonly [number, number, number]> = [];
	for (let turn = 0; turn < TURNS; turn++)
		times.push([await timed(service), await timed(tool), await timed(run)]);
	const programs: number[] = [];
	for (let turn = 0; turn < WARM_TURNS; turn++) {
		await sleep(REFILL_MS);
		programs.push(await timed(program));
	}
	return {
		serviceMs: p50(times.map(([first]) => first)),
		toolMs: p50(times.map(([, second]) => second)),
		runMs: p50(times.map(([, , third]) => third)),
		addedMs: p50(times.map(([first, , third]) => third - first)),
		programMs: p50(programs),
	};
}

/** Starts the gateway, measures, and stops it. */
export async function measureThroughGateway(): Promise<GatewayTimes> {
	const folder = await mkdtemp(join(tmpdir(), 'bridge-run-'));
	const port = await freePort();
	const config = join(folder, 'bridge.json');
	const wix = {command: process.execPath, args: [file('../fixtures/servers/shop.js'), '--name=wix']};
	await writeFile(config, JSON.stringify({listen: `127.0.0.1:${port}`, expose: 'both', servers: {wix}}));
	const command = [
		process.execPath,
		file('../bin/bridge.js'),
		'gateway',
		'--config',
		config,
		'--log-level',
		'error',
	];
	let failure: Error | undefined;
	const gateway = new Program(command, folder, process.env, error => {
		failure = error;
	});
	gateway.child.stdout?.resume();
	const sessions = ['/mcp/wix', '/mcp'].map(
		path => new HttpSession(new URL(path, `http://127.0.0.1:${port}`)),
	);
	try {
		await listening(port, () => failure === undefined);
		const [one, all] = sessions;
		if (failure || !one || !all) throw failure ?? new Error('The sessions could not be opened.');
		for (const session of sessions) await session.initialize(VERSION, PATIENCE_MS);
		const query = '{"query":"x"}';
		const run = (text: string) => () => all.call('run', JSON.stringify({command: text}));
		const program = run('[hit.upper() for hit in wix.search(query="x").hits]');
		await timed(program);
		const times = await measure({
			service: () => one.call('search', query),
			tool: () => all.call('wix__search', query),
			run: run('wix.search(query="x")'),
			program,
		});
		const idleMb = memoryOf(gateway.pid, 'VmRSS');
		await Promise.all(Array.from({length: PARALLEL}, () => timed(program)));
		return {...times, idleMb, peakMb: memoryOf(gateway.pid, 'VmHWM')};
	} finally {
		for (const session of sessions) session.close();
		await gateway.end(['SIGTERM', 'SIGKILL']);
		await rm(folder, {recursive: true, force: true});
	}
}
