/** How far a sequence number may be behind the latest one. Fewer requests are in transit at a time. */
const WINDOW = 8192;

/** Detects repeated sequence numbers. They may arrive in any order. */
export class AntiReplayWindow {
	#latest = 0;
	readonly #seen = new Uint8Array(WINDOW);

	/** Whether this number is new. Numbers before the window are rejected, since they may be repetitions. */
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
