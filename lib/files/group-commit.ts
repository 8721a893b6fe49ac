/**
 * Saves what many ask for with few saves: one is running, and one waits for it, which then is for all that asked
 * meanwhile.
 */
export class GroupCommit {
	readonly #save: () => Promise<void>;
	#running: Promise<void> | undefined;
	#queued: Promise<void> | undefined;

	constructor(save: () => Promise<void>) {
		this.#save = save;
	}

	/** Resolves when a save is done that began after this call, and rejects if that one fails. */
	commit(): Promise<void> {
		this.#queued ??= this.#runNext();
		return this.#queued;
	}

	/** The save that is asked for or running, if there is one. */
	pending(): Promise<void> {
		return this.#queued ?? this.#running ?? Promise.resolve();
	}

	async #runNext(): Promise<void> {
		// Also without a save that runs: what is asked for in one go is one save.
		await this.#running?.catch(() => {});
		this.#queued = undefined;
		this.#running = this.#save();
		const running = this.#running;
		try {
			await running;
		} finally {
			if (this.#running === running) this.#running = undefined;
		}
	}
}
