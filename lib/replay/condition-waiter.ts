/** Waits for a condition that other code changes. Supports one wait at a time. */
export class ConditionWaiter {
	#check: () => void = () => {};
	#isClosed = false;

	/** Whether the condition cannot change any more. */
	get isClosed(): boolean {
		return this.#isClosed;
	}

	/** Resolves when the condition is met, when the waiter is closed, or after `ms`; 0 for no limit. */
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

	/** Has to be called after each change. */
	notify(): void {
		this.#check();
	}

	/** Ends the current wait and all later ones. */
	close(): void {
		this.#isClosed = true;
		this.#check();
	}
}
