import type {Valve} from '../valve.js';

/** The valves of those whose messages somebody cannot take at present. */
export class ShutValves {
	readonly #open = new Map<Valve, () => void>();

	get isEmpty(): boolean {
		return this.#open.size === 0;
	}

	/** Shuts a valve, unless that is done already. */
	shut(valve: Valve): void {
		if (!this.#open.has(valve)) this.#open.set(valve, valve.shut());
	}

	release(): void {
		const all = [...this.#open.values()];
		this.#open.clear();
		for (const open of all) open();
	}
}
