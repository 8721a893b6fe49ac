import {type ChildProcessByStdio, spawn} from 'node:child_process';
import {once} from 'node:events';
import type {Readable, Writable} from 'node:stream';
import type {ExecutionContext} from 'ava';
import split2 from 'split2';
import type {Command} from './peers.js';

export interface JsonResponse {
	readonly id: unknown;
	readonly result?: Readonly<Record<string, unknown>>;
	readonly error?: {readonly code: number; readonly message: string};
}

export interface JsonEnding {
	readonly code: number | null;
	readonly signal: string | null;
	readonly stderr: string;
	/** The lines on stdout that are not JSON. */
	readonly noise: readonly string[];
}

/** A client without protocol logic: it sends exactly the given messages. */
export class JsonClient {
	readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
	readonly #closed: Promise<unknown>;
	readonly #responses = new Map<unknown, JsonResponse>();
	readonly #noise: string[] = [];
	#stderr = '';

	constructor(t: ExecutionContext, {command, args, env}: Command) {
		this.#child = spawn(command, args, {stdio: 'pipe', env: {...process.env, ...env}});
		this.#closed = once(this.#child, 'close');
		this.#child.stderr.on('data', chunk => {
			this.#stderr += String(chunk);
		});
		this.#child.stdout.pipe(split2()).on('data', line => this.#take(line));
		// The server may exit before all messages are sent. The missing response is a better error than
		// EPIPE.
		this.#child.stdin.on('error', () => undefined);
		// Only a failed test leaves it running.
		t.teardown(() => this.#child.kill('SIGKILL'));
	}

	#take(line: string): void {
		try {
			const message: JsonResponse & {method?: string} = JSON.parse(line);
			if (message.method === undefined) {
				this.#responses.set(message.id, message);
				this.#child.emit('response');
			}
		} catch {
			this.#noise.push(line);
		}
	}

	/** Sends the messages in one write. */
	send(
		...messages: ReadonlyArray<{readonly method: string; readonly id?: number; readonly params?: object}>
	) {
		const lines = messages.map(message => `${JSON.stringify({jsonrpc: '2.0', ...message})}\n`);
		this.#child.stdin.write(lines.join(''));
	}

	/** Resolves with the response to the request with that id. */
	async response(id: number): Promise<JsonResponse> {
		for (;;) {
			const response = this.#responses.get(id);
			if (response) {
				return response;
			}

			const ended = await Promise.race([
				once(this.#child, 'response').then(() => false),
				this.#closed.then(() => true),
			]);
			if (ended && !this.#responses.has(id)) {
				throw new Error(`The process exited without a response to ${id}: ${this.#stderr}`);
			}
		}
	}

	/** Kills the process, for servers that do not exit when stdin closes. */
	async kill(): Promise<void> {
		this.#child.kill('SIGKILL');
		await this.#closed;
	}

	/** Closes stdin, and waits for the exit. */
	async close(): Promise<JsonEnding> {
		this.#child.stdin.end();
		await this.#closed;
		return {
			code: this.#child.exitCode,
			signal: this.#child.signalCode,
			stderr: this.#stderr,
			noise: this.#noise,
		};
	}
}

export const initialized = {method: 'notifications/initialized'};

export function initialize(id: number, protocolVersion: string) {
	const clientInfo = {name: 'acceptance', version: '0'};
	return {id, method: 'initialize', params: {protocolVersion, capabilities: {}, clientInfo}};
}

export function listTools(id: number) {
	return {id, method: 'tools/list'};
}

/** The sorted names of the tools in a tools/list response. */
export function toolNames({result, error}: JsonResponse): string[] {
	const tools = result?.tools;
	if (!Array.isArray(tools)) {
		throw new TypeError(`The response contains no tools: ${JSON.stringify(error)}`);
	}

	return tools.map(tool => String(Reflect.get(Object(tool), 'name'))).sort();
}
