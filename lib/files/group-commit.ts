/**
 * Combines save requests. At most one save runs and one is queued; the queued save covers all requests made
 * meanwhile.
 */
export class GroupCommit {
	readonly #save: () => Promise<void>;
	#running: Promise<void> | undefined;
	#queued: Promise<void> | undefined;

	constructor(save: () => Promise<void>) {
		this.#save = save;
	}

	/** Resolves when a save that started after this call completes. Rejects if that save fails. */
	commit(): Promise<void> {
		this.#queued ??= this.#runNext();
		return this.#queued;
	}

	/** Returns the queued or running save, if any. */
	pending(): Promise<void> {
		return this.#queued ?? this.#running ?? Promise.resolve();
	}

	async #runNext(): Promise<void> {
		// Even without a running save, this defers to a later microtask, so synchronous calls share one save.
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
