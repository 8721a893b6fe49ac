/** Waits, for one at a time, for something that others bring about. */
export class Watch {
	#check: () => void = () => {};
	#isOver = false;

	/** Whether nothing more will happen. */
	get isOver(): boolean {
		return this.#isOver;
	}

	/** Resolves when something is so, or will not be any more, or the time is over; 0 for any time. */
	until(isSo: () => boolean, ms = 0): Promise<void> {
		if (isSo() || this.#isOver) return Promise.resolve();
		return new Promise(resolve => {
			const end = (): void => {
				clearTimeout(timer);
				this.#check = () => {};
				resolve();
			};
			const timer = ms === 0 ? undefined : setTimeout(end, ms);
			this.#check = () => {
				if (isSo() || this.#isOver) end();
			};
		});
	}

	/** Something has happened. */
	changed(): void {
		this.#check();
	}

	/** Nothing more will. */
	end(): void {
		this.#isOver = true;
		this.#check();
	}
}
