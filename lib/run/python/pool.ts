import {Worker} from 'node:worker_threads';
import {messageOf} from '../program-error.js';
import {confined} from './confined.js';
import {pythonPath, workerFile} from './files.js';
import type {BootData, Python, WorkerMessage} from './messages.js';
import {Session, type SessionLimits} from './session.js';

export type PoolOptions = SessionLimits & {
	readonly maxMemoryBytes: number;
	/** So long without a program, and all memory is given back. */
	readonly idleMs: number;
};

/** Interpreters, one of them ready at any time once there was a need for one. Each runs one program. */
export class Pool {
	readonly #options: PoolOptions;
	#python: Promise<Python> | undefined;
	#ready: Promise<Session> | undefined;
	#idle: NodeJS.Timeout | undefined;
	#isClosed = false;

	constructor(options: PoolOptions) {
		this.#options = options;
	}

	/** Whether the interpreter is installed. */
	get isInstalled(): boolean {
		return pythonPath() !== undefined;
	}

	/** An interpreter of one's own, to be ended by whoever took it. The next one is made ready meanwhile. */
	async take(): Promise<Session> {
		clearTimeout(this.#idle);
		const session = this.#ready ?? this.#start();
		this.#ready = undefined;
		try {
			return await session;
		} finally {
			this.#refill();
		}
	}

	/** Makes one ready. */
	async warmUp(): Promise<void> {
		this.#refill();
		await this.#ready;
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		await this.#forget();
	}

	#refill(): void {
		if (this.#isClosed) return;
		if (!this.#ready) {
			this.#ready = this.#start();
			// Whoever takes it hears of it; until then nobody is there to hear.
			this.#ready.catch(() => {
				this.#ready = undefined;
			});
		}
		clearTimeout(this.#idle);
		this.#idle = setTimeout(() => void this.#forget(), this.#options.idleMs).unref();
	}

	async #forget(): Promise<void> {
		clearTimeout(this.#idle);
		const ready = this.#ready;
		this.#ready = undefined;
		this.#python = undefined;
		await ready?.then(
			session => session.end(),
			() => {},
		);
	}

	async #start(): Promise<Session> {
		this.#python ??= boot(this.#options.maxMemoryBytes);
		try {
			return await Session.start(await this.#python, this.#options);
		} catch (error) {
			this.#python = undefined;
			throw error;
		}
	}
}

/** Starts Python once, in a thread of its own, and keeps what its memory looks like then. */
async function boot(maxMemoryBytes: number): Promise<Python> {
	const path = pythonPath();
	if (path === undefined) throw new Error('Python is not installed.');
	const data: BootData = {task: 'boot', path, maxMemoryBytes};
	const worker = new Worker(workerFile(), {...confined, workerData: data});
	worker.unref();
	try {
		return await new Promise<Python>((resolve, reject) => {
			worker.on('message', (message: WorkerMessage) => {
				if ('python' in message) resolve(message.python);
			});
			worker.on('error', error => reject(new Error(messageOf(error))));
			worker.on('exit', () => reject(new Error('Python did not start.')));
		});
	} finally {
		await worker.terminate();
	}
}
