import {performance} from 'node:perf_hooks';

const WIDTH = 30;
/** What is over sooner needs no bar. */
const DELAY_MS = 1000;
const EVERY_MS = 100;
const CLEAR = '\r\u001b[K';

/** A bar on a terminal, for what takes long. Without a terminal there is none. */
export class ProgressBar {
	readonly #write: ((text: string) => void) | undefined;
	readonly #started = performance.now();
	#drawn = 0;
	#isShown = false;

	constructor(write: ((text: string) => void) | undefined) {
		this.#write = write;
	}

	/** So much of all is done. */
	show(what: string, done: number, all: number): void {
		const now = performance.now();
		if (!this.#write || now - this.#started < DELAY_MS || now - this.#drawn < EVERY_MS) return;
		this.#drawn = now;
		this.#isShown = true;
		const part = all === 0 ? 1 : Math.min(1, done / all);
		const full = Math.round(part * WIDTH);
		const bar = `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)}`;
		this.#write(`${CLEAR}${what} ${bar} ${Math.floor(part * 100)} %`);
	}

	/** Takes the bar away, for whoever has something to say there. */
	clear(): void {
		if (this.#isShown) this.#write?.(CLEAR);
		this.#isShown = false;
	}
}
