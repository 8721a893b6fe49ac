import {performance} from 'node:perf_hooks';

/** The time limit of a turn. It does not run while the client is asked for something. */
export class TurnClock {
	readonly #onLate: () => void;
	/** The keys of the pending requests to the client. */
	readonly #questions = new Set<string>();
	#leftMs: number;
	#since = performance.now();
	#timer: NodeJS.Timeout | undefined;
	#isOver = false;

	constructor(ms: number, onLate: () => void) {
		this.#leftMs = ms;
		this.#onLate = onLate;
		this.#run();
	}

	/** The client is asked. */
	hold(question: string): void {
		if (this.#questions.size === 0) {
			clearTimeout(this.#timer);
			this.#leftMs -= performance.now() - this.#since;
		}
		this.#questions.add(question);
	}

	/** The client has responded, or is not asked any more. */
	release(question: string): void {
		if (this.#questions.delete(question) && this.#questions.size === 0 && !this.#isOver) this.#run();
	}

	stop(): void {
		this.#isOver = true;
		clearTimeout(this.#timer);
	}

	#run(): void {
		this.#since = performance.now();
		this.#timer = setTimeout(this.#onLate, Math.max(1, this.#leftMs));
	}
}
