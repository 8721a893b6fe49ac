import {type Client, callText, INITIALIZED, initializeParams, withTimeout} from './client.js';
import {Program} from './program.js';
import {type CallResult, readResponse} from './response.js';

interface Pending {
	resolve(result: CallResult): void;
	reject(error: Error): void;
}

const NEWLINE = 10;

/**
 * A raw MCP client on a child's stdio, without an SDK, so that it is cheap and the same for each target.
 */
export class StdioClient implements Client {
	readonly #program: Program;
	readonly #pending = new Map<number, Pending>();
	#nextId = 1;
	#parts: Buffer[] = [];
	#size = 0;
	#dead: Error | undefined;

	constructor(command: string[], cwd: string, env: NodeJS.ProcessEnv) {
		this.#program = new Program(command, cwd, env, error => this.#fail(error));
		this.#program.child.stdout?.on('data', (chunk: Buffer) => this.#take(chunk));
	}

	get pid(): number {
		return this.#program.pid;
	}

	get startedAt(): number {
		return this.#program.startedAt;
	}

	async initialize(protocolVersion: string, ms: number): Promise<void> {
		const result = await this.request('initialize', initializeParams(protocolVersion), ms);
		if (!result.ok) {
			throw new Error(`initialize was rejected: ${result.why}`);
		}
		this.#program.child.stdin?.write(`${INITIALIZED}\n`);
	}

	request(method: string, params: unknown, ms: number): Promise<CallResult> {
		const id = this.#nextId++;
		return withTimeout(this.#send(id, JSON.stringify({jsonrpc: '2.0', id, method, params})), ms, method);
	}

	call(tool: string, argumentsJson: string): Promise<CallResult> {
		const id = this.#nextId++;
		return this.#send(id, callText(id, tool, argumentsJson));
	}

	/** Closes stdin as clients do. A process that ignores that is killed. */
	close(): Promise<void> {
		return this.#program.end(['SIGTERM', 'SIGKILL']);
	}

	#send(id: number, text: string): Promise<CallResult> {
		return new Promise((resolve, reject) => {
			if (this.#dead !== undefined) {
				reject(this.#dead);
				return;
			}
			this.#pending.set(id, {resolve, reject});
			this.#program.child.stdin?.write(`${text}\n`);
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
		const [id, result] = readResponse(parts, size);
		const waiting = id === undefined ? undefined : this.#pending.get(id);
		if (id !== undefined && waiting !== undefined) {
			this.#pending.delete(id);
			waiting.resolve(result);
		}
	}
}
