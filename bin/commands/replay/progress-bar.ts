import {performance} from 'node:perf_hooks';

const WIDTH = 30;
/** The delay before the bar appears. Shorter tasks need no bar. */
const DELAY_MS = 1000;
const REDRAW_INTERVAL_MS = 100;
const CLEAR = '\r\u001b[K';

/** A progress bar on a terminal for long tasks. */
export class ProgressBar {
	readonly #write: ((text: string) => void) | undefined;
	readonly #startedAt = performance.now();
	#drawnAt = 0;
	#isShown = false;

	constructor(write: ((text: string) => void) | undefined) {
		this.#write = write;
	}

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

	/** Removes the bar, so that other output can be printed. */
	clear(): void {
		if (this.#isShown) this.#write?.(CLEAR);
		this.#isShown = false;
	}
}
