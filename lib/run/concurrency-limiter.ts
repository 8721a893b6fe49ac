/** A program that waits for a slot, and the number of slots that its client may have. */
type QueueEntry = {readonly proceed: () => void; readonly client: string; readonly maxSlots: number};

/** Lets so many in at once, and so many more wait. */
export class ConcurrencyLimiter {
	readonly #slots: number;
	readonly #queueLimit: number;
	readonly #queue: QueueEntry[] = [];
	/** The slots in use, by client. */
	readonly #activeByClient = new Map<string, number>();
	#active = 0;

	constructor(slots: number, queueLimit: number) {
		this.#slots = slots;
		this.#queueLimit = queueLimit;
	}

	get active(): number {
		return this.#active;
	}

	get queued(): number {
		return this.#queue.length;
	}

	/**
	 * Resolves with the way out, to be taken once; `undefined` when too many wait already. Rejected with the signal's
	 * reason when that is aborted before there is a place.
	 *
	 * A client gets at most its share of the slots, and of the queue; the rest stays free for others.
	 */
	async acquire(signal: AbortSignal, client = '', share = 1): Promise<(() => void) | undefined> {
		signal.throwIfAborted();
		const maxSlots = slotsFor(this.#slots, share);
		if (this.#active < this.#slots && this.#activeOf(client) < maxSlots) {
			this.#addActive(client, 1);
			return this.#createRelease(client);
		}
		const {length: queuedOfClient} = this.#queue.filter(queued => queued.client === client);
		if (this.#queue.length >= this.#queueLimit || queuedOfClient >= slotsFor(this.#queueLimit, share)) return;
		await new Promise<void>((resolve, reject) => {
			const onAbort = (): void => {
				this.#queue.splice(this.#queue.indexOf(entry), 1);
				reject(signal.reason);
			};
			const proceed = (): void => {
				signal.removeEventListener('abort', onAbort);
				resolve();
			};
			const entry: QueueEntry = {proceed, client, maxSlots};
			this.#queue.push(entry);
			signal.addEventListener('abort', onAbort, {once: true});
		});
		return this.#createRelease(client);
	}

	#activeOf(client: string): number {
		return this.#activeByClient.get(client) ?? 0;
	}

	#addActive(client: string, change: number): void {
		const count = this.#activeOf(client) + change;
		this.#active += change;
		if (count > 0) this.#activeByClient.set(client, count);
		else this.#activeByClient.delete(client);
	}

	/** Whoever leaves hands the place to the next one, so that nobody who comes just then can take it. */
	#createRelease(client: string): () => void {
		let isAcquired = true;
		return () => {
			if (!isAcquired) return;
			isAcquired = false;
			this.#addActive(client, -1);
			const at = this.#queue.findIndex(queued => this.#activeOf(queued.client) < queued.maxSlots);
			const [next] = at === -1 ? [] : this.#queue.splice(at, 1);
			if (!next) return;
			this.#addActive(next.client, 1);
			next.proceed();
		};
	}
}

/** The number of slots for a client with this share: at least one. Rounded, since 15 / 22 of 22 is a little less than 15. */
const slotsFor = (slots: number, share: number): number =>
	Math.max(1, Math.floor(slots * Math.min(1, share) + 1e-9));
