/** A queued program, and the maximum number of slots for its client. */
type QueueEntry = {readonly proceed: () => void; readonly client: string; readonly maxSlots: number};

/** A semaphore with a bounded queue and a quota per client. */
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
	 * Waits for a slot. Resolves with a function that releases it, or with `undefined` if the queue is full.
	 * Rejects with the reason of the signal if that is aborted first.
	 *
	 * A client gets at most its share of the slots and of the queue. The rest stays free for other clients.
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

	/**
	 * Hands the released slot to the next queued program in the same tick, so that a later `acquire` cannot
	 * take it first.
	 */
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

/**
 * The number of slots for a share, at least 1. The tolerance compensates for rounding: 15 / 22 * 22 is
 * slightly less than 15.
 */
const slotsFor = (slots: number, share: number): number =>
	Math.max(1, Math.floor(slots * Math.min(1, share) + 1e-9));
