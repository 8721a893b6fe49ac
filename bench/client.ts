import {type ChildProcess, spawn} from 'node:child_process';

/** What came back: a small message is parsed, of a big one only the id and the size are taken. */
export interface Answer {
	ok: boolean;
	size: number;
	result?: unknown;
	why?: string;
}
interface Pending {
	resolve(answer: Answer): void;
	reject(error: Error): void;
}
interface Message {
	id?: number;
	method?: string;
	result?: {isError?: boolean; content?: unknown[]};
	error?: {message?: string};
}

const NEWLINE = 10;
const BIG = 65_536;
const EDGE = 400;
const ID = /"id"\s*:\s*(\d+)/;
const GRACE_MS = 2500;

export const withTimeout = async <T>(work: Promise<T>, ms: number, what: string): Promise<T> => {
	let timer: NodeJS.Timeout | undefined;
	const limit = new Promise<never>((_resolve, reject) => {
		timer = setTimeout(() => reject(new Error(`no end of ${what} within ${ms} ms`)), ms);
	});
	try {
		return await Promise.race([work, limit]);
	} finally {
		clearTimeout(timer);
	}
};

// The first or last bytes of a message that lies in pieces, without joining all of it.
const edge = (parts: Buffer[], from: 'start' | 'end'): string => {
	let text = '';
	for (let step = 0; step < parts.length && text.length < EDGE; step++) {
		const part = parts[from === 'start' ? step : parts.length - 1 - step] ?? Buffer.alloc(0);
		text =
			from === 'start'
				? text + part.toString('latin1', 0, EDGE)
				: part.toString('latin1', Math.max(0, part.length - EDGE)) + text;
	}
	return text;
};

/** A raw MCP client on a child's stdio: no SDK, so that the client costs little and the same for every target. */
export class StdioClient {
	readonly startedAt = performance.now();
	readonly #child: ChildProcess;
	readonly #ended: Promise<void>;
	readonly #pending = new Map<number, Pending>();
	#nextId = 1;
	#parts: Buffer[] = [];
	#size = 0;
	#dead: Error | undefined;
	#errorText = '';

	constructor(command: string[], cwd: string, env: NodeJS.ProcessEnv) {
		const [program = '', ...args] = command;
		const child = spawn(program, args, {stdio: ['pipe', 'pipe', 'pipe'], cwd, env});
		this.#child = child;
		this.#ended = new Promise(resolve => {
			child.once('error', error => {
				this.#fail(error);
				resolve();
			});
			child.once('exit', (code, signal) => {
				this.#fail(new Error(`ended with ${code ?? signal}: ${this.#errorText.trim().slice(-300)}`));
				resolve();
			});
		});
		child.stdin.on('error', () => undefined);
		child.stdout.on('data', (chunk: Buffer) => this.#take(chunk));
		child.stderr.on('data', (chunk: Buffer) => {
			this.#errorText = (this.#errorText + chunk.toString()).slice(-2000);
		});
	}

	get pid(): number | undefined {
		return this.#child.pid;
	}

	async initialize(protocolVersion: string, ms: number): Promise<void> {
		const params = {
			protocolVersion,
			capabilities: {},
			clientInfo: {name: 'bridge-bench', version: '1.0.0'},
		};
		const answer = await this.request('initialize', params, ms);
		if (!answer.ok) {
			throw new Error(`initialize was refused: ${answer.why}`);
		}
		this.#child.stdin?.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
	}

	request(method: string, params: unknown, ms: number): Promise<Answer> {
		const id = this.#nextId++;
		return withTimeout(this.#send(id, JSON.stringify({jsonrpc: '2.0', id, method, params})), ms, method);
	}

	/** A tools/call whose arguments are JSON text already; the caller sets the time limit, for a whole slice. */
	call(tool: string, argumentsJson: string): Promise<Answer> {
		const id = this.#nextId++;
		const params = `{"name":"${tool}","arguments":${argumentsJson}}`;
		return this.#send(id, `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`);
	}

	/** End it as a client does, by closing its stdin; what ignores that is ended by signal. */
	async close(): Promise<void> {
		this.#child.stdin?.end();
		for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
			if (await this.#endsWithin(GRACE_MS)) {
				return;
			}
			this.#child.kill(signal);
		}
		await this.#endsWithin(GRACE_MS);
	}

	async #endsWithin(ms: number): Promise<boolean> {
		return withTimeout(
			this.#ended.then(() => true),
			ms,
			'the process',
		).catch(() => false);
	}

	#send(id: number, text: string): Promise<Answer> {
		return new Promise((resolve, reject) => {
			if (this.#dead !== undefined) {
				reject(this.#dead);
				return;
			}
			this.#pending.set(id, {resolve, reject});
			this.#child.stdin?.write(`${text}\n`);
		});
	}

	#fail(error: Error): void {
		this.#dead = error;
		for (const waiting of this.#pending.values()) {
			waiting.reject(error);
		}
		this.#pending.clear();
	}

	#take(chunk: Buffer): void {
		let from = 0;
		for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
			this.#keep(chunk.subarray(from, end));
			this.#line(this.#parts, this.#size);
			this.#parts = [];
			this.#size = 0;
			from = end + 1;
		}
		if (from < chunk.length) {
			this.#keep(chunk.subarray(from));
		}
	}

	#keep(part: Buffer): void {
		this.#parts.push(part);
		this.#size += part.length;
	}

	#line(parts: Buffer[], size: number): void {
		const [id, answer] = size > BIG ? readBig(parts, size) : readSmall(parts, size);
		const waiting = id === undefined ? undefined : this.#pending.get(id);
		if (id !== undefined && waiting !== undefined) {
			this.#pending.delete(id);
			waiting.resolve(answer);
		}
	}
}

const readBig = (parts: Buffer[], size: number): [number | undefined, Answer] => {
	const start = edge(parts, 'start');
	const end = edge(parts, 'end');
	// Some proxies write the id first, some last.
	const id = ID.exec(start) ?? ID.exec(end.slice(-EDGE));
	const ok = !/"error"\s*:\s*\{|"isError"\s*:\s*true/.test(start + end.slice(-EDGE));
	return [id === null ? undefined : Number(id[1]), {ok, size, ...(ok ? {} : {why: start.slice(0, 200)})}];
};

const readSmall = (parts: Buffer[], size: number): [number | undefined, Answer] => {
	const text = (parts.length === 1 ? (parts[0] ?? Buffer.alloc(0)) : Buffer.concat(parts)).toString();
	let message: Message;
	try {
		message = JSON.parse(text) as Message;
	} catch {
		// A banner or a log line on stdout: not an answer to anything.
		return [undefined, {ok: false, size}];
	}
	if (message.method !== undefined) {
		return [undefined, {ok: true, size}];
	}
	const ok = message.error === undefined && message.result !== undefined && message.result.isError !== true;
	return [message.id, {ok, size, result: message.result, ...(ok ? {} : {why: text.slice(0, 200)})}];
};
