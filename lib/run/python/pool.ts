import {pythonPath} from './files.js';
import {Session, type SessionLimits} from './session.js';
import {type Shared, sharedPython} from './shared-python.js';

export type PoolOptions = SessionLimits & {
	readonly maxMemoryBytes: number;
	/** So long without a program, and all memory is given back. */
	readonly idleMs: number;
};

const REFILL_MS = 20;

/** Interpreters, one of them ready at any time once there was a need for one. Each runs one program. */
export class Pool {
	readonly #options: PoolOptions;
	#python: Shared | undefined;
	#ready: Promise<Session> | undefined;
	#idle: NodeJS.Timeout | undefined;
	#refilling: NodeJS.Timeout | undefined;
	#isClosed = false;

	constructor(options: PoolOptions) {
		this.#options = options;
	}

	/** Whether the interpreter is installed. */
	get isInstalled(): boolean {
		return pythonPath() !== undefined;
	}

	/**
	 * An interpreter of one's own, to be ended by whoever took it. The next one is made ready a little later, so as not to
	 * take the time of a program that is over in no time.
	 */
	async take(): Promise<Session> {
		clearTimeout(this.#idle);
		clearTimeout(this.#refilling);
		const session = this.#ready ?? this.#start();
		this.#ready = undefined;
		try {
			return await session;
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
		clearTimeout(this.#refilling);
		const ready = this.#ready;
		this.#ready = undefined;
		this.#python?.release();
		this.#python = undefined;
		await ready?.then(
			session => session.end(),
			() => {},
		);
	}

	async #start(): Promise<Session> {
		this.#python ??= sharedPython(this.#options.maxMemoryBytes);
		const {python} = this.#python;
		try {
			return await Session.start(await python, this.#options);
		} catch (error) {
			if (this.#python?.python === python) {
				this.#python.release();
				this.#python = undefined;
			}
			throw error;
		}
	}
}
