import {type InterpreterLimits, PythonInterpreter} from './interpreter.js';
import {pythonWasmPath} from './python-package.js';
import {acquireSnapshot, type SharedSnapshot} from './shared-snapshot.js';

type InterpreterPoolOptions = InterpreterLimits & {
	readonly maxMemoryBytes: number;
	/** So long without a program, and all memory is given back. */
	readonly idleMs: number;
};

const REFILL_MS = 20;

/** Interpreters, one of them ready at any time once there was a need for one. Each runs one program. */
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

	/** Whether the interpreter is installed. */
	get isInstalled(): boolean {
		return pythonWasmPath() !== undefined;
	}

	/**
	 * An interpreter of one's own, to be ended by whoever took it. The next one is made ready a little later, so as not to
	 * take the time of a program that is over in no time.
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

	/** Makes one ready. */
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
			// Whoever takes it hears of it; until then nobody is there to hear.
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
