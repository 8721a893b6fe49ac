import type {Valve} from '../../core/valve.js';
import type {BodyController} from './http-request.js';

/** Leaves a stream unread while a valve is shut. To be asked after each chunk. */
export class BodyBackpressure {
	readonly #valve: Valve;
	#isPaused = false;

	constructor(valve: Valve) {
		this.#valve = valve;
	}

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
