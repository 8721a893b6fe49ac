/** Lets so many in at once, and so many more wait. */
export class Gate {
	readonly #places: number;
	readonly #waitingPlaces: number;
	readonly #waiting: Array<() => void> = [];
	#inside = 0;

	constructor(places: number, waitingPlaces: number) {
		this.#places = places;
		this.#waitingPlaces = waitingPlaces;
	}

	get inside(): number {
		return this.#inside;
	}

	get waiting(): number {
		return this.#waiting.length;
	}

	/**
	 * Resolves with the way out, to be taken once; `undefined` when too many wait already. Rejected with the signal's
	 * reason when that is aborted before there is a place.
	 */
	async enter(signal: AbortSignal): Promise<(() => void) | undefined> {
		signal.throwIfAborted();
		if (this.#inside < this.#places) {
			this.#inside++;
			return this.#exit();
		}
		if (this.#waiting.length >= this.#waitingPlaces) return;
		await new Promise<void>((resolve, reject) => {
			const giveUp = (): void => {
				this.#waiting.splice(this.#waiting.indexOf(proceed), 1);
				reject(signal.reason);
			};
			const proceed = (): void => {
				signal.removeEventListener('abort', giveUp);
				resolve();
			};
			this.#waiting.push(proceed);
			signal.addEventListener('abort', giveUp, {once: true});
		});
		return this.#exit();
	}

	/** Whoever leaves hands the place to the next one, so that nobody who comes just then can take it. */
	#exit(): () => void {
		let isInside = true;
		return () => {
			if (!isInside) return;
			isInside = false;
			const next = this.#waiting.shift();
			if (next) next();
			else this.#inside--;
		};
	}
}
