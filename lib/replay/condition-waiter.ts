/** Waits, for one at a time, for something that others bring about. */
export class ConditionWaiter {
	#check: () => void = () => {};
	#isClosed = false;

	/** Whether nothing more will happen. */
	get isClosed(): boolean {
		return this.#isClosed;
	}

	/** Resolves when something is so, or will not be any more, or the time is over; 0 for any time. */
	waitUntil(condition: () => boolean, ms = 0): Promise<void> {
		if (condition() || this.#isClosed) return Promise.resolve();
		return new Promise(resolve => {
			const finish = (): void => {
				clearTimeout(timer);
				this.#check = () => {};
				resolve();
			};
			const timer = ms === 0 ? undefined : setTimeout(finish, ms);
			this.#check = () => {
				if (condition() || this.#isClosed) finish();
			};
		});
	}

	/** Something has happened. */
	notify(): void {
		this.#check();
	}

	/** Nothing more will. */
	close(): void {
		this.#isClosed = true;
		this.#check();
	}
}
