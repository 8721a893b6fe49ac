// npm run bench:serve: what `bridge serve` adds to a turn of Codex, with a fake Codex whose turns take a fixed time.

import {type ChildProcess, spawn} from 'node:child_process';
import {chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {cpus, loadavg, tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';

/** How long the model of the fake Codex takes. */
const TURN_MS = 50;
const ROUNDS = 40;
/** Turns of all threads together that come first, and take no time in Codex. */
const WARM_UP = 1000;
const TICK_MS = 10;
const GOALS = {threads: 10, p50: 2, p99: 10};

type Json = {readonly [key: string]: unknown};

const say = (line: string): void => {
	process.stderr.write(`${line}\n`);
};
const file = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));
const fakes = {
	'mcp-server': file('fixtures/codex/fake-mcp-server.js'),
	'app-server': file('fixtures/codex/fake-app-server.js'),
};

/** A client that writes lines and waits for answers. */
class Client {
	readonly #child: ChildProcess;
	readonly #waiting = new Map<unknown, (answer: Json) => void>();
	#ids = 0;

	constructor(args: readonly string[], env: NodeJS.ProcessEnv, cwd: string) {
		this.#child = spawn(process.execPath, args, {stdio: ['pipe', 'pipe', 'ignore'], env, cwd});
		createInterface({input: this.#child.stdout as NodeJS.ReadableStream}).on('line', line => {
			const answer = JSON.parse(line) as Json;
			if ('method' in answer) return;
			this.#waiting.get(answer.id)?.(answer);
			this.#waiting.delete(answer.id);
		});
	}

	tell(message: Json): void {
		this.#child.stdin?.write(`${JSON.stringify({jsonrpc: '2.0', ...message})}\n`);
	}

	ask(method: string, params: Json): Promise<Json> {
		const id = ++this.#ids;
		this.tell({id, method, params});
		return new Promise(resolve => this.#waiting.set(id, resolve));
	}

	async ready(): Promise<this> {
		const clientInfo = {name: 'bench', version: '1'};
		await this.ask('initialize', {protocolVersion: '2025-11-25', capabilities: {}, clientInfo});
		this.tell({method: 'notifications/initialized'});
		return this;
	}

	/** What the agent said, and the thread. */
	async turn(name: string, args: Json): Promise<{readonly content: unknown; readonly threadId: unknown}> {
		const {result} = await this.ask('tools/call', {name, arguments: args});
		const {structuredContent} = result as {structuredContent: {content: unknown; threadId: unknown}};
		return structuredContent;
	}

	/** The CPU time that the process has used, without its children. */
	get cpuMs(): number {
		const fields = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
		return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
	}

	end(): void {
		this.#child.kill('SIGKILL');
	}
}

type Measured = {readonly times: number[]; readonly wrong: number; readonly cpuMs: number};

/** Each thread asks and waits, again and again, all at once; first so that all is warm, and then in earnest. */
async function measure(client: Client, threads: number, isBridge: boolean): Promise<Measured> {
	const times: number[] = [];
	let wrong = 0;
	const begin = async (at: number): Promise<unknown> => {
		const named = isBridge ? {identity: `agent-${at}`} : {};
		return (await client.turn('codex', {prompt: `say:${at}`, ...named})).threadId;
	};
	const ask = async (threadId: unknown, at: number, rounds: number, turnMs: number): Promise<void> => {
		for (let round = 0; round < rounds; round++) {
			const prompt = `say:${at} ${round}\nslow:${turnMs}`;
			const start = performance.now();
			const {content} = await client.turn('codex-reply', {threadId, prompt});
			if (turnMs > 0) times.push(performance.now() - start);
			if (content !== `${at} ${round}`) wrong++;
		}
	};
	const all = await Promise.all(Array.from({length: threads}, (_, at) => begin(at)));
	await Promise.all(all.map((threadId, at) => ask(threadId, at, WARM_UP / threads, 0)));
	const before = client.cpuMs;
	await Promise.all(all.map((threadId, at) => ask(threadId, at, ROUNDS, TURN_MS)));
	return {times, wrong, cpuMs: (client.cpuMs - before) / (threads * ROUNDS)};
}

const at = (times: readonly number[], share: number): number =>
	times.toSorted((one, other) => one - other)[Math.min(times.length - 1, Math.floor(times.length * share))] ??
	Number.NaN;

/** A folder with all that a run needs, and what to start in it. */
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
		? new Client([file('bin/bridge.js'), 'serve', '--config', toml, '--log-level', 'error'], env, folder)
		: new Client([fakes[kind], kind], env, folder);
}

async function run(kind: keyof typeof fakes, threads: number, isBridge: boolean): Promise<Measured> {
	const folder = mkdtempSync(join(tmpdir(), 'bridge-bench-serve-'));
	const client = target(kind, isBridge, folder);
	try {
		return await measure(await client.ready(), threads, isBridge);
	} finally {
		client.end();
		rmSync(folder, {recursive: true, force: true, maxRetries: 5});
	}
}

const figures = ({times, wrong, cpuMs}: Measured) => ({
	p50: at(times, 0.5),
	p99: at(times, 0.99),
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

say(
	`${ROUNDS} turns a thread, each ${TURN_MS} ms in the fake Codex. Added: over the same turns without bridge.`,
);
say(
	`Load average ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores: on a busy machine only the CPU time tells.`,
);
say(row('threads', 'target', 'p50 ms', 'p99 ms', 'added p50', 'added p99', 'CPU ms', 'wrong'));
const results: Json[] = [];
for (const threads of [1, GOALS.threads, 50]) {
	const direct = figures(await run('mcp-server', threads, false));
	say(row(String(threads), 'direct', direct.p50, direct.p99, '', '', '', String(direct.wrong)));
	for (const kind of ['mcp-server', 'app-server'] as const) {
		const served = figures(await run(kind, threads, true));
		const [p50, p99] = [served.p50 - direct.p50, served.p99 - direct.p99];
		const {p50: half, p99: nearlyAll, cpuMs, wrong} = served;
		const isWithin = p50 < GOALS.p50 && p99 < GOALS.p99;
		const verdict = threads === GOALS.threads ? ` ${isWithin ? 'within' : 'over'} NFR-1` : '';
		say(row(String(threads), `serve, ${kind}`, half, nearlyAll, p50, p99, cpuMs, String(wrong)) + verdict);
		results.push({threads, kind, ...served, addedP50: p50, addedP99: p99});
	}
}
process.stdout.write(`${JSON.stringify(results)}\n`);
process.exit(results.some(({wrong}) => wrong !== 0) ? 1 : 0);
