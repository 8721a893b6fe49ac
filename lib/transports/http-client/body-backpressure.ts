import type {Valve} from '../../core/valve.js';
import type {BodyController} from './http-request.js';

/** Pauses a response body while a valve is shut. */
export class BodyBackpressure {
	readonly #valve: Valve;
	#isPaused = false;

	constructor(valve: Valve) {
		this.#valve = valve;
	}

	/** To be called after each chunk. */
	apply(controller: BodyController): void {
		if (this.#valve.isOpen || this.#isPaused) return;
		this.#isPaused = true;
		controller.pause();
		this.#valve.whenOpen(() => {
			this.#isPaused = false;
			controller.resume();
		});
	}
}
