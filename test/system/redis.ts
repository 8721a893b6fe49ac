import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import type {ExecutionContext} from 'ava';
import {freePort} from '../helpers/free-port.js';
import {until} from '../helpers/pipeline.js';
import {tempFolder} from '../helpers/temp-folder.js';
import {need} from './tools.js';

/** A temporary, empty Redis server without persistence. */
export class RunningRedis {
	readonly port: number;
	readonly #folder: string;
	readonly #more: readonly string[];
	#process: ChildProcess | undefined;

	/** `more` are additional flags of redis-server. */
	constructor(port: number, folder: string, more: readonly string[] = []) {
		this.port = port;
		this.#folder = folder;
		this.#more = more;
	}

	async start(): Promise<void> {
		const flags = ['--port', `${this.port}`, '--bind', '127.0.0.1', '--save', '', '--dir', this.#folder];
		const redis = spawn('redis-server', [...flags, ...this.#more], {stdio: ['ignore', 'pipe', 'inherit']});
		let output = '';
		redis.stdout.on('data', chunk => {
			output += chunk;
		});
		this.#process = redis;
		await until(() => /Ready to accept connections/.test(output));
	}

	async kill(): Promise<void> {
		const redis = this.#process;
		if (redis?.exitCode !== null || redis.signalCode !== null) return;
		redis.kill('SIGKILL');
		await once(redis, 'close');
	}

	/** Runs redis-cli, and resolves to its output. */
	async cli(args: readonly string[], input = ''): Promise<string> {
		return cli(this.port, args, input);
	}
}

export async function startRedis(t: ExecutionContext, more: readonly string[] = []): Promise<RunningRedis> {
	need('redis-server');
	need('redis-cli', 'redis-tools');
	const redis = new RunningRedis(await freePort(), tempFolder(t), more);
	await redis.start();
	t.teardown(() => redis.kill());
	return redis;
}

/** The Redis user from the documentation, with exactly the permissions listed there. */
export function userOfDocs(...more: readonly string[]): string[] {
	const docs = readFileSync(new URL('../../../docs/scaling.md', import.meta.url), 'utf8');
	const words = /^ACL SETUSER (bridge .+)$/m.exec(docs)?.[1]?.replace('PASSWORD', 'planted-password');
	if (words === undefined)
		throw new Error('docs/scaling.md contains no ACL SETUSER line for the user bridge.');
	return ['--user', ...words.split(' '), ...more];
}

/** Runs redis-cli against a port, and resolves to its output. */
export async function cli(port: number, args: readonly string[], input = ''): Promise<string> {
	const client = spawn('redis-cli', ['-h', '127.0.0.1', '-p', `${port}`, ...args]);
	let text = '';
	client.stdout.on('data', chunk => {
		text += chunk;
	});
	// redis-cli may exit before it reads its input.
	client.stdin.on('error', () => {}).end(input);
	await once(client, 'close');
	return text.trim();
}
