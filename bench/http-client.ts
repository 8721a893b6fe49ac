import {connect} from 'node:net';
import {setTimeout as sleep} from 'node:timers/promises';
import {type Client, withTimeout} from './client.js';
import {HttpSession} from './http-session.js';
import {Program} from './program.js';
import type {CallResult} from './response.js';

const POLL_MS = 10;

const isListening = (port: number): Promise<boolean> =>
	new Promise(resolve => {
		const socket = connect(port, '127.0.0.1');
		socket.once('connect', () => {
			socket.destroy();
			resolve(true);
		});
		socket.once('error', () => resolve(false));
	});

/** Waits until a program listens on the port. */
export const listening = async (port: number, isWanted: () => boolean): Promise<void> => {
	while (isWanted() && !(await isListening(port))) {
		await sleep(POLL_MS);
	}
};

/** A raw MCP client of an HTTP server that it starts. */
export class HttpClient implements Client {
	readonly #program: Program;
	readonly #url: URL;
	readonly #session: HttpSession;
	#dead: Error | undefined;

	constructor(command: string[], url: URL, cwd: string, env: NodeJS.ProcessEnv) {
		this.#program = new Program(command, cwd, env, error => {
			this.#dead = error;
		});
		this.#program.child.stdout?.resume();
		this.#url = url;
		this.#session = new HttpSession(url);
	}

	get pid(): number {
		return this.#program.pid;
	}

	get startedAt(): number {
		return this.#program.startedAt;
	}

	async initialize(protocolVersion: string, ms: number): Promise<void> {
		const {port} = this.#url;
		await withTimeout(
			listening(Number(port), () => this.#dead === undefined),
			ms,
			`the start: no program listens on port ${port}`,
		);
		if (this.#dead) {
			throw this.#dead;
		}
		await this.#session.initialize(protocolVersion, ms);
	}

	request(method: string, params: unknown, ms: number): Promise<CallResult> {
		return this.#session.request(method, params, ms);
	}

	call(tool: string, argumentsJson: string): Promise<CallResult> {
		return this.#session.call(tool, argumentsJson);
	}

	/** Opens another session at the same server, with separate connections. */
	another(): HttpSession {
		return new HttpSession(this.#url);
	}

	async close(): Promise<void> {
		this.#session.close();
		await this.#program.stop();
	}
}
