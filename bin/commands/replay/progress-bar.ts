import {performance} from 'node:perf_hooks';

const WIDTH = 30;
/** What is over sooner needs no bar. */
const DELAY_MS = 1000;
const REDRAW_INTERVAL_MS = 100;
const CLEAR = '\r\u001b[K';

/** A bar on a terminal, for what takes long. Without a terminal there is none. */
export class ProgressBar {
	readonly #write: ((text: string) => void) | undefined;
	readonly #startedAt = performance.now();
	#drawnAt = 0;
	#isShown = false;

	constructor(write: ((text: string) => void) | undefined) {
		this.#write = write;
	}

	/** So much of all is done. */
	show(label: string, done: number, total: number): void {
		const now = performance.now();
		if (!this.#write || now - this.#startedAt < DELAY_MS || now - this.#drawnAt < REDRAW_INTERVAL_MS) return;
		this.#drawnAt = now;
		this.#isShown = true;
		const part = total === 0 ? 1 : Math.min(1, done / total);
		const full = Math.round(part * WIDTH);
		const bar = `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)}`;
		this.#write(`${CLEAR}${label} ${bar} ${Math.floor(part * 100)} %`);
	}

	/** Takes the bar away, for whoever has something to say there. */
	clear(): void {
		if (this.#isShown) this.#write?.(CLEAR);
		this.#isShown = false;
	}
}
