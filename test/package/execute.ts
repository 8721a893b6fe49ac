import {type ChildProcess, type SpawnOptions, spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {createServer} from 'node:net';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';

/** The repository. This file runs from dist/test/package. */
export const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The name and the version of the package. */
export const manifest: {readonly name: string; readonly version: string} = JSON.parse(
	readFileSync(`${root}package.json`, 'utf8'),
);

/** The environment without what an outer `npm run` sets: it would override the .npmrc of a folder. */
export const cleanEnv: {readonly [name: string]: string} = Object.fromEntries(
	Object.entries(process.env).flatMap(([name, value]) =>
		value === undefined || /^(?:npm_|INIT_CWD$|NODE_OPTIONS$|NODE_V8_COVERAGE$)/i.test(name)
			? []
			: [[name, value] as const],
	),
);

const MAX_SHOWN = 3000;

export type ExecuteOptions = {
	readonly cwd: string;
	readonly env?: {readonly [name: string]: string};
	readonly input?: string;
	readonly timeoutMs?: number;
};

/** Runs a program to its end. Returns its stdout; rejects with its output if it fails. */
export async function execute(
	command: string,
	args: readonly string[],
	{cwd, env = {}, input = '', timeoutMs = 150_000}: ExecuteOptions,
): Promise<string> {
	const child = start(command, args, {cwd, env: {...cleanEnv, ...env}, timeout: timeoutMs});
	const output = {stdout: '', stderr: ''};
	for (const name of ['stdout', 'stderr'] as const)
		child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
			output[name] += chunk;
		});
	// A program that does not read its input is not an error.
	child.stdin?.on('error', () => {});
	child.stdin?.end(input);
	const [code, signal] = await once(child, 'close');
	if (code === 0) return output.stdout;
	const shown = `${output.stdout}${output.stderr}`.slice(-MAX_SHOWN);
	throw new Error(`${[command, ...args].join(' ')} ended with ${code ?? signal}.\n${shown}`);
}

/** Starts a program with pipes. */
export const start = (command: string, args: readonly string[], options: SpawnOptions): ChildProcess =>
	spawn(command, args, {env: cleanEnv, ...options, stdio: 'pipe'});

/** Ends a program and waits until it has exited. */
export async function stop(child: ChildProcess): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null) return;
	const exited = once(child, 'exit');
	child.kill('SIGTERM');
	const killer = setTimeout(() => child.kill('SIGKILL'), 10_000);
	await exited;
	clearTimeout(killer);
}

/** A TCP port of the loopback address that is free now. */
export async function unusedPort(): Promise<number> {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const address = server.address();
	server.close();
	await once(server, 'close');
	if (address === null || typeof address === 'string') throw new Error('The system assigned no port.');
	return address.port;
}

/** Polls until the attempt returns a value. Attempts may throw. */
export async function poll<T>(
	what: string,
	attempt: () => Promise<T | undefined>,
	limitMs = 60_000,
): Promise<T> {
	const end = Date.now() + limitMs;
	let last: unknown;
	while (Date.now() < end) {
		try {
			const value = await attempt();
			if (value !== undefined) return value;
		} catch (error) {
			last = error;
		}
		await sleep(100);
	}
	throw new Error(`${what} took more than ${limitMs / 1000} s${last === undefined ? '' : ` (${last})`}.`);
}
