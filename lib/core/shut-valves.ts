import type {Valve} from './valve.js';

/** The valves that one receiver has shut because it cannot accept messages. */
export class ShutValves {
	readonly #openers = new Map<Valve, () => void>();

	get isEmpty(): boolean {
		return this.#openers.size === 0;
	}

	/** Shuts a valve, unless this receiver has already shut it. */
	shut(valve: Valve): void {
		if (!this.#openers.has(valve)) this.#openers.set(valve, valve.shut());
	}

	release(): void {
		const all = [...this.#openers.values()];
		this.#openers.clear();
		for (const open of all) open();
	}
}
