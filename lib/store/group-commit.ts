/**
 * Saves what many ask for with few saves: one is running, and one waits for it, which then is for all that asked
 * meanwhile.
 */
export class GroupCommit {
	readonly #save: () => Promise<void>;
	#running: Promise<void> | undefined;
	#waiting: Promise<void> | undefined;

	constructor(save: () => Promise<void>) {
		this.#save = save;
	}

	/** Resolves when a save is done that began after this call, and rejects if that one fails. */
	commit(): Promise<void> {
		this.#waiting ??= this.#next();
		return this.#waiting;
	}

	/** The save that is asked for or running, if there is one. */
	underWay(): Promise<void> {
		return this.#waiting ?? this.#running ?? Promise.resolve();
	}

	async #next(): Promise<void> {
		// Also without a save that runs: what is asked for in one go is one save.
		await this.#running?.catch(() => {});
		this.#waiting = undefined;
		this.#running = this.#save();
		const running = this.#running;
		try {
			await running;
		} finally {
			if (this.#running === running) this.#running = undefined;
		}
	}
}
