import type {Valve} from './valve.js';

/** The valves of those whose messages somebody cannot take at present. */
export class ShutValves {
	readonly #openers = new Map<Valve, () => void>();

	get isEmpty(): boolean {
		return this.#openers.size === 0;
	}

	/** Shuts a valve, unless that is done already. */
	shut(valve: Valve): void {
		if (!this.#openers.has(valve)) this.#openers.set(valve, valve.shut());
	}

	release(): void {
		const all = [...this.#openers.values()];
		this.#openers.clear();
		for (const open of all) open();
	}
}
