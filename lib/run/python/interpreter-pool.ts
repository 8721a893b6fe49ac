import {type InterpreterLimits, PythonInterpreter} from './interpreter.js';
import {pythonWasmPath} from './python-package.js';
import {acquireSnapshot, type SharedSnapshot} from './shared-snapshot.js';

type InterpreterPoolOptions = InterpreterLimits & {
	readonly maxMemoryBytes: number;
	/** Idle time in milliseconds after which all memory is released. */
	readonly idleMs: number;
};

const REFILL_MS = 20;

/** A pool that keeps one started interpreter ready after the first use. Each interpreter runs one program. */
export class InterpreterPool {
	readonly #options: InterpreterPoolOptions;
	#snapshot: SharedSnapshot | undefined;
	#ready: Promise<PythonInterpreter> | undefined;
	#idle: NodeJS.Timeout | undefined;
	#refilling: NodeJS.Timeout | undefined;
	#isClosed = false;

	constructor(options: InterpreterPoolOptions) {
		this.#options = options;
	}

	get isInstalled(): boolean {
		return pythonWasmPath() !== undefined;
	}

	/**
	 * Returns an interpreter, which the caller must terminate. The next one is started after a short delay,
	 * so that it does not compete for CPU with a short program.
	 */
	async acquire(): Promise<PythonInterpreter> {
		clearTimeout(this.#idle);
		clearTimeout(this.#refilling);
		const interpreter = this.#ready ?? this.#start();
		this.#ready = undefined;
		try {
			return await interpreter;
		} finally {
			clearTimeout(this.#refilling);
			this.#refilling = setTimeout(() => this.#refill(), REFILL_MS).unref();
		}
	}

	async warmUp(): Promise<void> {
		this.#refill();
		await this.#ready;
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		await this.#releaseAll();
	}

	#refill(): void {
		if (this.#isClosed) return;
		if (!this.#ready) {
			this.#ready = this.#start();
			// Prevents an unhandled rejection. A caller that already acquired this promise gets the error.
			this.#ready.catch(() => {
				this.#ready = undefined;
			});
		}
		clearTimeout(this.#idle);
		this.#idle = setTimeout(() => void this.#releaseAll(), this.#options.idleMs).unref();
	}

	async #releaseAll(): Promise<void> {
		clearTimeout(this.#idle);
		clearTimeout(this.#refilling);
		const ready = this.#ready;
		this.#ready = undefined;
		this.#snapshot?.release();
		this.#snapshot = undefined;
		await ready?.then(
			interpreter => interpreter.terminate(),
			() => {},
		);
	}

	async #start(): Promise<PythonInterpreter> {
		this.#snapshot ??= acquireSnapshot(this.#options.maxMemoryBytes);
		const {python} = this.#snapshot;
		try {
			return await PythonInterpreter.start(await python, this.#options);
		} catch (error) {
			if (this.#snapshot?.python === python) {
				this.#snapshot.release();
				this.#snapshot = undefined;
			}
			throw error;
		}
	}
}
