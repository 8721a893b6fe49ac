// npm run soak: honest and hostile clients at one gateway. See CONTRIBUTING.md.

import {type ChildProcess, fork, spawn} from 'node:child_process';
import {once, setMaxListeners} from 'node:events';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {freePort} from '../../bench/free-port.js';
import {listening} from '../../bench/http-client.js';
import {programPath} from '../../bench/paths.js';
import {Gateway} from './gateway.js';
import {HonestClient} from './honest.js';
import type {Counters, Setup} from './hostile/main.js';
import {HELP, HOSTILE_KINDS, type Options, readOptions} from './options.js';
import {pool} from './posts.js';
import {configOf} from './services.js';
import {Tally} from './tally.js';

const MS_PER_MINUTE = 60_000;
/** The share of the run before the hostile clients start. Code is compiled in the first part. */
const WARM_UP = 0.1;
const QUIET = 0.25;
const WATCH_MS = 250;
/** Clients that connect concurrently: each may start a process. */
const START_AT_ONCE = 8;
const GOAL = 10;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Starts the hostile clients. Returns a function that ends them and resolves to their counters. */
function startHostile(setup: Setup): () => Promise<Counters> {
	let counters: Counters = {};
	const child = fork(fileURLToPath(new URL('hostile/main.js', import.meta.url)));
	child.on('message', message => {
		counters = message as Counters;
	});
	child.send(setup);
	const exited = once(child, 'exit');
	return async () => {
		if (child.connected) child.disconnect();
		await exited;
		return counters;
	};
}

/**
 * Waits for the end of a phase, samples the gateway meanwhile, and prints the figures. A phase without
 * responses fails.
 */
async function pass(ms: number, gateway: Gateway, tally: Tally): Promise<void> {
	const until = performance.now() + ms;
	const isOver = (): boolean => performance.now() > until && (tally.phase.right > 0 || tally.failed > 0);
	while (!isOver() && gateway.ended === undefined) {
		tally.phase.rssMiB = Math.max(tally.phase.rssMiB, gateway.memory('VmRSS'));
		await sleep(WATCH_MS);
	}
	print(String(tally.phase));
}

/** Connects all clients, a few at a time. */
async function startAll(clients: readonly HonestClient[]): Promise<void> {
	const waiting = [...clients];
	const startSome = async (): Promise<void> => {
		for (let next = waiting.shift(); next; next = waiting.shift()) await next.start();
	};
	await Promise.all(Array.from({length: START_AT_ONCE}, startSome));
}

/** Runs both phases with all clients. Resolves to the counters of the hostile ones. */
async function runPhases(options: Options, gateway: Gateway, tally: Tally): Promise<Counters> {
	const {clients: count, seed, patienceMs, hostile: kinds} = options;
	const base = await gateway.address();
	const end = new AbortController();
	const ground = {base, seed, patienceMs, tally, end: end.signal};
	const clients = Array.from({length: count}, (_, number) => new HonestClient(number, ground));
	void gateway.exited.then(() => end.abort());
	setMaxListeners(0, end.signal);
	tally.begin('warm-up');
	await startAll(clients);
	const totalMs = options.minutes * MS_PER_MINUTE;
	const running = clients.map(client => client.run());
	await pass(totalMs * WARM_UP, gateway, tally);
	tally.begin('quiet');
	await pass(totalMs * QUIET, gateway, tally);
	tally.begin('hostile');
	const endHostile = kinds.length > 0 ? startHostile({base: base.href, seed, kinds}) : async () => ({});
	await pass(totalMs * (1 - WARM_UP - QUIET), gateway, tally);
	const counters = await endHostile();
	end.abort();
	print('end: waiting for pending requests');
	await Promise.all(running);
	tally.peakMiB = gateway.memory('VmHWM');
	for (const client of clients) client.close();
	return counters;
}

/** Starts the server that the gateway reaches by HTTP. */
async function startUpstream(): Promise<{readonly child: ChildProcess; readonly port: number}> {
	const port = await freePort();
	const child = spawn(process.execPath, [programPath('echo-server'), 'upstream', String(port)], {
		stdio: 'inherit',
	});
	await listening(port, () => child.exitCode === null);
	return {child, port};
}

async function soak(options: Options): Promise<{readonly tally: Tally; readonly counters: Counters}> {
	const tally = new Tally();
	const folder = await mkdtemp(join(tmpdir(), 'bridge-soak-'));
	const upstream = await startUpstream();
	const file = join(folder, 'bridge.json');
	await writeFile(file, JSON.stringify(configOf(folder, options.seed, upstream.port)));
	const command = [process.execPath, options.program, 'gateway', '--config', file, '--log-level', 'error'];
	const gateway = new Gateway(command, folder);
	// An interrupted run kills its processes.
	process.once('exit', () => [gateway.child, upstream.child].map(child => child.kill()));
	try {
		const counters = await runPhases(options, gateway, tally);
		if (tally.peakMiB > options.rssMiB)
			tally.fail(
				`RSS of the gateway reached ${Math.round(tally.peakMiB)} MiB; the bound is ${options.rssMiB} MiB`,
			);
		return {tally, counters};
	} finally {
		for (const failure of await gateway.stop()) tally.fail(failure);
		upstream.child.kill();
		await pool.destroy();
		await rm(folder, {recursive: true, force: true});
	}
}

function report({failed, failures, phases, peakMiB}: Tally, counters: Counters, {rssMiB}: Options): void {
	for (const [kind, own] of Object.entries(counters))
		print(
			`hostile ${kind}: ${
				Object.entries(own)
					.map(([what, count]) => `${count} ${what}`)
					.join(', ') || 'nothing'
			}`,
		);
	const [quiet, hostile] = ['quiet', 'hostile'].map(
		name => phases.find(phase => phase.name === name)?.times().p99,
	);
	print(
		`p99 ratio to the quiet phase: ${((hostile ?? Number.NaN) / (quiet ?? Number.NaN)).toFixed(1)} (goal: ${GOAL})`,
	);
	print(`RSS of the gateway: at most ${Math.round(peakMiB)} MiB (bound: ${rssMiB} MiB)`);
	for (const failure of failures) print(`FAILED ${failure}`);
	if (failed > failures.length) print(`… and ${failed - failures.length} more failures`);
	print(failed === 0 ? 'No failures.' : `${failed} failures.`);
}

async function main(argv: readonly string[]): Promise<number> {
	const options = readOptions(argv);
	if (options.help) {
		print(HELP);
		return 0;
	}
	const {clients, hostile, minutes, seed, rssMiB} = options;
	const hostiles = hostile.reduce((sum, kind) => sum + HOSTILE_KINDS[kind], 0);
	print(
		`${clients} honest clients, ${hostiles} hostile (${hostile.join(', ') || 'none'}), ${minutes} minutes`,
	);
	print(`seed ${seed} (repeat with --seed ${seed}); bound of the gateway's RSS: ${rssMiB} MiB`);
	const {tally, counters} = await soak(options);
	report(tally, counters, options);
	return tally.failed === 0 ? 0 : 1;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(2));
process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
	print(`soak: ${error instanceof Error ? error.message : error}`);
	return 2;
});
