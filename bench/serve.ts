// npm run bench:serve: the cost that `bridge serve` adds to a Codex turn, with a fake Codex whose turns take
// a fixed time.

import {type ChildProcess, spawn} from 'node:child_process';
import {chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {cpus, loadavg, tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import ndjson from 'ndjson';
import {readNdjson} from '../test/helpers/ndjson.js';

/** The turn time of the fake Codex in ms, and its spread. */
const TURN_MS = 40;
const SPREAD_MS = 21;
const ROUNDS = 40;
/** Warm-up turns over all threads, which take no time in Codex. */
const WARM_UP = 1000;
const TICK_MS = 10;
const LOG = 'traffic.ndjson';
const FLUSH_MS = 500;
const GOALS = {threads: 10, p50: 2, p99: 10};

type Json = {readonly [key: string]: unknown};

const print = (line: string): void => {
	process.stderr.write(`${line}\n`);
};
const file = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));
const fakes = {
	'mcp-server': file('fixtures/codex/fake-mcp-server.js'),
	'app-server': file('fixtures/codex/fake-app-server.js'),
};

/** A client that writes lines and waits for responses. */
class Client {
	readonly #child: ChildProcess;
	readonly #pending = new Map<unknown, (response: Json) => void>();
	#ids = 0;

	constructor(args: readonly string[], env: NodeJS.ProcessEnv, cwd: string) {
		this.#child = spawn(process.execPath, args, {stdio: ['pipe', 'pipe', 'ignore'], env, cwd});
		this.#child.stdout?.pipe(ndjson.parse()).on('data', (response: Json) => {
			if ('method' in response) return;
			this.#pending.get(response.id)?.(response);
			this.#pending.delete(response.id);
		});
	}

	notify(message: Json): void {
		this.#child.stdin?.write(`${JSON.stringify({jsonrpc: '2.0', ...message})}\n`);
	}

	request(method: string, params: Json): Promise<Json> {
		const id = ++this.#ids;
		this.notify({id, method, params});
		return new Promise(resolve => this.#pending.set(id, resolve));
	}

	async ready(): Promise<this> {
		const clientInfo = {name: 'bench', version: '1'};
		await this.request('initialize', {protocolVersion: '2025-11-25', capabilities: {}, clientInfo});
		this.notify({method: 'notifications/initialized'});
		return this;
	}

	/** The content and the thread of a turn's result. */
	async turn(name: string, args: Json): Promise<{readonly content: unknown; readonly threadId: unknown}> {
		const {result} = await this.request('tools/call', {name, arguments: args});
		const {structuredContent} = result as {structuredContent: {content: unknown; threadId: unknown}};
		return structuredContent;
	}

	/** The CPU time of the process, without its children. */
	get cpuMs(): number {
		const fields = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
		return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
	}

	end(): void {
		this.#child.kill('SIGKILL');
	}
}

type Measured = {readonly times: number[]; readonly wrong: number; readonly cpuMs: number};

/** Runs turns on all threads concurrently, first as a warm-up and then with measurement. */
async function measure(client: Client, threads: number, isBridge: boolean): Promise<Measured> {
	const times: number[] = [];
	let wrong = 0;
	const startThread = async (at: number): Promise<unknown> => {
		const named = isBridge ? {identity: `agent-${at}`} : {};
		return (await client.turn('codex', {prompt: `say:${at}`, ...named})).threadId;
	};
	const runTurns = async (threadId: unknown, at: number, rounds: number, isTimed: boolean): Promise<void> => {
		for (let round = 0; round < rounds; round++) {
			// A spread of the turn times: threads whose turns all end at once would wait for each other,
			// unlike real agents.
			const turnMs = isTimed ? TURN_MS + ((at * 7 + round * 13) % SPREAD_MS) : 0;
			const text = `${isTimed ? 'turn' : 'warm'} ${at} ${round}`;
			const prompt = `say:${text}\nslow:${turnMs}`;
			const start = performance.now();
			const {content} = await client.turn('codex-reply', {threadId, prompt});
			if (isTimed) times.push(performance.now() - start - turnMs);
			if (content !== text) wrong++;
		}
	};
	const all = await Promise.all(Array.from({length: threads}, (_, at) => startThread(at)));
	await Promise.all(all.map((threadId, at) => runTurns(threadId, at, WARM_UP / threads, false)));
	const before = client.cpuMs;
	await Promise.all(all.map((threadId, at) => runTurns(threadId, at, ROUNDS, true)));
	return {times, wrong, cpuMs: (client.cpuMs - before) / (threads * ROUNDS)};
}

const at = (times: readonly number[], share: number): number =>
	times.toSorted((one, other) => one - other)[Math.min(times.length - 1, Math.floor(times.length * share))] ??
	Number.NaN;

type LogLine = {readonly time: string; readonly side?: string; readonly message?: Json};

/** The turn and the event of a line in the traffic log. */
function eventOf({
	time,
	side,
	message,
}: LogLine): {readonly turn: string; readonly what: string; readonly at: number} | undefined {
	const isCall = message?.method === 'tools/call';
	const [turn] = /turn \d+ \d+/.exec(JSON.stringify(isCall ? message.params : (message?.result ?? ''))) ?? [];
	if (turn === undefined) return;
	// The log has microseconds, which Date does not support.
	const at = Date.parse(`${time.slice(0, 19)}Z`) + Number(`0.${time.slice(20, -1)}`) * 1000;
	return {turn, what: `${side} ${isCall ? 'request' : 'response'}`, at};
}

/**
 * The time that calls and responses spent in bridge according to its traffic log, which excludes other
 * processes.
 */
function insideTimes(log: string): number[] {
	const turns = new Map<string, Map<string, number>>();
	for (const line of readNdjson<LogLine>(log)) {
		const event = eventOf(line);
		if (!event) continue;
		const seen = turns.get(event.turn) ?? new Map<string, number>();
		turns.set(event.turn, seen.set(event.what, event.at));
	}
	const between = (seen: Map<string, number>, from: string, to: string): number =>
		(seen.get(to) ?? Number.NaN) - (seen.get(from) ?? Number.NaN);
	return [...turns.values()].map(
		seen =>
			between(seen, 'client request', 'upstream request') +
			between(seen, 'upstream response', 'client response'),
	);
}

/** Creates a folder with all files of a run. Returns the command. */
function target(kind: keyof typeof fakes, isBridge: boolean, folder: string): Client {
	const program = join(folder, `codex-${kind}`);
	writeFileSync(
		program,
		`#!${process.execPath}\nprocess.env.CODEX_HOME = ${JSON.stringify(folder)};\nimport(${JSON.stringify(fakes[kind])});\n`,
	);
	chmodSync(program, 0o755);
	const toml = join(folder, 'atm.toml');
	writeFileSync(
		toml,
		`[plugins.codex-mcp]\ncodex_bin = ${JSON.stringify(program)}\nmax_concurrent_threads = 100\n`,
	);
	const env = {...process.env, ATM_HOME: folder, CODEX_HOME: folder};
	return isBridge
		? new Client(
				[
					file('bin/bridge.js'),
					'serve',
					'--config',
					toml,
					'--log',
					join(folder, LOG),
					'--flush-millis',
					'20',
					'--log-level',
					'error',
				],
				env,
				folder,
			)
		: new Client([fakes[kind], kind], env, folder);
}

type Run = Measured & {readonly inside: number[]};

async function run(kind: keyof typeof fakes, threads: number, isBridge: boolean): Promise<Run> {
	const folder = mkdtempSync(join(tmpdir(), 'bridge-bench-serve-'));
	const client = target(kind, isBridge, folder);
	try {
		const measured = await measure(await client.ready(), threads, isBridge);
		await sleep(FLUSH_MS);
		return {...measured, inside: isBridge ? insideTimes(join(folder, LOG)) : []};
	} finally {
		client.end();
		rmSync(folder, {recursive: true, force: true, maxRetries: 5});
	}
}

const figures = ({times, wrong, cpuMs, inside}: Run) => ({
	p50: at(times, 0.5),
	p99: at(times, 0.99),
	insideP50: at(inside, 0.5),
	insideP99: at(inside, 0.99),
	turns: times.length,
	cpuMs,
	wrong,
});

const row = (...cells: ReadonlyArray<string | number>): string =>
	cells
		.map((cell, index) => {
			const text = typeof cell === 'number' ? cell.toFixed(2) : cell;
			return index < 2 ? text.padEnd(index === 0 ? 9 : 20) : text.padStart(10);
		})
		.join(' ');

print(`${ROUNDS} turns per thread, of ${TURN_MS} to ${TURN_MS + SPREAD_MS} ms, which are subtracted.`);
print(
	'Inside: the time from the arrival of a call to its departure, and the same for its response. Total: all processes and pipes.',
);
print(`Load average ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores.`);
print(row('threads', 'target', 'total p50', 'total p99', 'inside p50', 'inside p99', 'CPU ms', 'wrong'));
const results: Json[] = [];
for (const threads of [1, GOALS.threads, 50]) {
	const direct = figures(await run('mcp-server', threads, false));
	print(row(String(threads), 'direct', direct.p50, direct.p99, '', '', '', String(direct.wrong)));
	for (const kind of ['mcp-server', 'app-server'] as const) {
		const served = figures(await run(kind, threads, true));
		const {p50, p99, insideP50, insideP99, cpuMs, wrong} = served;
		const isWithin = insideP50 < GOALS.p50 && insideP99 < GOALS.p99;
		const verdict = threads === GOALS.threads ? ` ${isWithin ? 'within' : 'over'} NFR-1` : '';
		print(
			row(String(threads), `serve, ${kind}`, p50, p99, insideP50, insideP99, cpuMs, String(wrong)) + verdict,
		);
		results.push({threads, kind, ...served});
	}
}
process.stdout.write(`${JSON.stringify(results)}\n`);
process.exit(results.some(({wrong}) => wrong !== 0) ? 1 : 0);
