import type {Valve} from '../valve.js';
import type {Flow} from './http-exchange.js';

/** Leaves a stream unread while a valve is shut. To be asked after each chunk. */
export class ValveFlow {
	readonly #valve: Valve;
	#isPaused = false;

	constructor(valve: Valve) {
		this.#valve = valve;
	}

	check(flow: Flow): void {
		if (this.#valve.isOpen || this.#isPaused) return;
		this.#isPaused = true;
		flow.pause();
		this.#valve.whenOpen(() => {
			this.#isPaused = false;
			flow.resume();
		});
	}
}
