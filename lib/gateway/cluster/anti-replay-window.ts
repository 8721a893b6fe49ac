/** How far behind the latest a request may be that was handed on before it: more are never under way at a time. */
const WINDOW = 8192;

/** Tells which of the numbers that somebody counts up have come before, however mixed up they come. */
export class AntiReplayWindow {
	#latest = 0;
	readonly #seen = new Uint8Array(WINDOW);

	/** Whether this number comes for the first time. One that is too far back might have come. */
	accept(number: number): boolean {
		if (!Number.isSafeInteger(number) || number <= this.#latest - WINDOW) return false;
		if (number > this.#latest + WINDOW) this.#seen.fill(0);
		else for (let next = this.#latest + 1; next <= number; next++) this.#seen[next % WINDOW] = 0;
		this.#latest = Math.max(this.#latest, number);
		if (this.#seen[number % WINDOW] === 1) return false;
		this.#seen[number % WINDOW] = 1;
		return true;
	}
}
