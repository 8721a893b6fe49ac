import {type ChildProcess, spawn} from 'node:child_process';
import {withTimeout} from './client.js';

const GRACE_MS = 2500;

/** A process that the bench started, with the end of its stderr. */
export class Program {
	readonly startedAt = performance.now();
	readonly child: ChildProcess;
	readonly pid: number;
	readonly #ended: Promise<void>;
	#errorText = '';

	constructor(command: string[], cwd: string, env: NodeJS.ProcessEnv, onEnd: (error: Error) => void) {
		const [program = '', ...args] = command;
		const child = spawn(program, args, {stdio: ['pipe', 'pipe', 'pipe'], cwd, env});
		this.child = child;
		this.pid = child.pid ?? -1;
		this.#ended = new Promise(resolve => {
			child.once('error', error => {
				onEnd(error);
				resolve();
			});
			child.once('exit', (code, signal) => {
				onEnd(new Error(`exited with ${code ?? signal}: ${this.#errorText.trim().slice(-300)}`));
				resolve();
			});
		});
		child.stdin.on('error', () => undefined);
		child.stderr.on('data', (chunk: Buffer) => {
			this.#errorText = (this.#errorText + chunk.toString()).slice(-2000);
		});
	}

	/** Closes stdin, and then sends the signals one after the other until the process exits. */
	async end(signals: readonly NodeJS.Signals[]): Promise<void> {
		this.child.stdin?.end();
		for (const signal of signals) {
			if (await this.#endsWithin(GRACE_MS)) {
				return;
			}
			this.child.kill(signal);
		}
		await this.#endsWithin(GRACE_MS);
	}

	/** Stops a server, which does not exit when stdin closes. */
	async stop(): Promise<void> {
		this.child.kill('SIGTERM');
		await this.end(['SIGKILL']);
	}

	#endsWithin(ms: number): Promise<boolean> {
		return withTimeout(
			this.#ended.then(() => true),
			ms,
			'the process',
		).catch(() => false);
	}
}
