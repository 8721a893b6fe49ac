import {type ChildProcess, type StdioOptions, spawn} from 'node:child_process';
import {once} from 'node:events';
import {openSync} from 'node:fs';
import process from 'node:process';
import type {Readable, Writable} from 'node:stream';
import {fileURLToPath} from 'node:url';
import split2 from 'split2';

export const bridgeBin = fileURLToPath(new URL('../../bin/bridge.js', import.meta.url));

export const fixture = (name: string): string =>
	fileURLToPath(new URL(`../../fixtures/servers/${name}.js`, import.meta.url));

export const server = (name: string, ...args: string[]): string[] => [
	process.execPath,
	fixture(name),
	...args,
];

export type Message = {readonly [key: string]: unknown};

/** The version that bridge requests from servers. A client with this version needs no translation. */
export const VERSION = '2025-11-25';

const clientInfo = {name: 'test', version: '1'};

/** The params of `initialize`. */
export const opening = {protocolVersion: VERSION, capabilities: {}, clientInfo};

/** The two messages of a client's handshake, as lines without line feeds. */
export const handshake = [
	JSON.stringify({jsonrpc: '2.0', id: 'first', method: 'initialize', params: opening}),
	'{"jsonrpc":"2.0","method":"notifications/initialized"}',
] as const;

/** A server's response to the first of them, as a line without a line feed. */
export const welcome = JSON.stringify({
	jsonrpc: '2.0',
	id: 'first',
	result: {protocolVersion: VERSION, capabilities: {}, serverInfo: {name: 'server', version: '1'}},
});

/** The start of a shell script that acts as a server during the handshake. */
export const shellHandshake = `read line; echo '${welcome}'; read line; `;

/** Completes the handshake with a bridge whose stdout was not read yet, and returns the response. */
export async function shakeHandsRaw({stdin, stdout}: {stdin: Writable; stdout: Readable}): Promise<string> {
	const [initialize, initialized] = handshake;
	stdin.write(`${initialize}\n`);
	await once(stdout, 'readable');
	const response = String(stdout.read());
	stdin.write(`${initialized}\n`);
	return response;
}

export class Running {
	readonly child: ChildProcess;
	readonly stdin: Writable;
	/** Every line of stdout so far, without its line feed. */
	readonly lines: string[] = [];
	/** The same lines as messages. Each is parsed once, when a message is needed. */
	readonly #messages: Message[] = [];
	#stderr = '';
	readonly exited: Promise<{code: number | null; signal: NodeJS.Signals | null}>;
	#isOver = false;
	readonly #checks = new Set<() => void>();

	constructor(child: ChildProcess) {
		this.child = child;
		const [stdin, stdout, stderr] = child.stdio as unknown as [Writable, Readable | null, Readable];
		this.stdin = stdin;
		// A test detects by other means that bridge has exited.
		stdin.on('error', () => {});
		const read = stdout === null ? undefined : this.#read(stdout);
		stderr.setEncoding('utf8').on('data', (text: string) => {
			this.#stderr += text;
			this.#wake();
		});
		this.exited = once(child, 'close').then(async ([code, signal]) => {
			await read;
			this.#wake(true);
			return {code, signal};
		});
	}

	/** The content of stderr, without reports about orphans of other tests. */
	get stderr(): string {
		return this.#stderr.replace(/^.*"event":"child\.orphans".*\n/gm, '');
	}

	get pid(): number {
		return this.child.pid ?? 0;
	}

	send(message: Message): void {
		this.sendText(`${JSON.stringify({jsonrpc: '2.0', ...message})}\n`);
	}

	sendText(text: string | Uint8Array): void {
		this.stdin.write(text);
	}

	/** The first matching message on stdout, whether it has arrived or not. */
	async message(matches: (message: Message) => boolean): Promise<Message> {
		return this.#find(() => this.#parsed().find(matches), 'a matching message');
	}

	answer(id: unknown): Promise<Message> {
		return this.message(message => message.id === id && !('method' in message));
	}

	request(id: string | number, method: string, params?: Message): Promise<Message> {
		this.send(params === undefined ? {id, method} : {id, method, params});
		return this.answer(id);
	}

	/** Completes the handshake, and resolves to the server's response. */
	async shakeHands(): Promise<Message> {
		const [initialize, initialized] = handshake;
		this.sendText(`${initialize}\n`);
		const response = await this.answer('first');
		this.sendText(`${initialized}\n`);
		return response;
	}

	/** Waits until stderr matches the pattern. */
	async says(pattern: RegExp): Promise<RegExpMatchArray> {
		return this.#find(() => this.stderr.match(pattern) ?? undefined, String(pattern));
	}

	/** Waits for this many lines on stdout. */
	async hasLines(count: number): Promise<string[]> {
		return this.#find(() => (this.lines.length >= count ? this.lines : undefined), `${count} lines`);
	}

	async end(): Promise<number | null> {
		this.stdin.end();
		return (await this.exited).code;
	}

	#parsed(): Message[] {
		const {length} = this.#messages;
		for (const line of this.lines.slice(length)) this.#messages.push(JSON.parse(line) as Message);
		return this.#messages;
	}

	/** Resolves at the end of stdout, also if a test destroys it. */
	async #read(stdout: Readable): Promise<void> {
		const lines = split2('\n').on('data', (line: string) => {
			this.lines.push(line);
			this.#wake();
		});
		stdout.pipe(lines);
		stdout.once('close', () => lines.end());
		await once(lines, 'end');
		// A test that destroys stdout may still read stderr.
		if (stdout.readableEnded) this.#wake(true);
	}

	#wake(isOver = false): void {
		this.#isOver ||= isOver;
		for (const check of [...this.#checks]) check();
	}

	#find<T>(look: () => T | undefined, what: string): Promise<T> {
		return new Promise((resolve, reject) => {
			const check = (): void => {
				const found = look();
				if (found === undefined && !this.#isOver) return;
				this.#checks.delete(check);
				if (found !== undefined) resolve(found);
				else reject(new Error(`bridge ended without ${what}; stderr: ${this.stderr.slice(-2000)}`));
			};
			this.#checks.add(check);
			check();
		});
	}
}

export type StartOptions = {
	readonly env?: NodeJS.ProcessEnv;
	readonly cwd?: string;
	readonly node?: string;
	readonly nodeArgs?: readonly string[];
	/** A file to write stdout to. */
	readonly stdout?: string;
};

export type RunOptions = StartOptions & {
	/** The number of lines to wait for before stdin ends, so that a server is not stopped too early. */
	readonly answers?: number;
	/** Whether a handshake precedes the input. Its response is not among the returned lines. */
	readonly isReady?: boolean;
};

export function startBridge(args: readonly string[], options: StartOptions = {}): Running {
	const {env = process.env, cwd, node = process.execPath, nodeArgs = [], stdout} = options;
	const output = stdout === undefined ? 'pipe' : openSync(stdout, 'a');
	const stdio: StdioOptions = ['pipe', output, 'pipe'];
	return new Running(spawn(node, [...nodeArgs, bridgeBin, ...args], {stdio, env, ...(cwd ? {cwd} : {})}));
}

/** Starts `bridge ARGS` and completes the handshake. The server's response is the first line on stdout. */
export async function startReady(args: readonly string[], options?: StartOptions): Promise<Running> {
	const running = startBridge(args, options);
	await running.shakeHands();
	return running;
}

/** Runs `bridge ARGS` with this input until it exits. */
export async function runBridge(
	args: readonly string[],
	input: string | Uint8Array = '',
	options: RunOptions = {},
): Promise<{code: number | null; stdout: string[]; stderr: string}> {
	const {answers, isReady = false} = options;
	const running = isReady ? await startReady(args, options) : startBridge(args, options);
	const {length: skipped} = running.lines;
	running.stdin.write(input);
	if (answers !== undefined) await running.hasLines(skipped + answers);
	running.stdin.end();
	const {code} = await running.exited;
	return {code, stdout: running.lines.slice(skipped), stderr: running.stderr};
}
