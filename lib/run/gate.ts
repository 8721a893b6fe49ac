/** A program that waits for a slot, and the number of slots that its client may have. */
type Waiting = {readonly proceed: () => void; readonly client: string; readonly most: number};

/** Lets so many in at once, and so many more wait. */
export class Gate {
	readonly #places: number;
	readonly #waitingPlaces: number;
	readonly #waiting: Waiting[] = [];
	/** The slots in use, by client. */
	readonly #insideOf = new Map<string, number>();
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
	 *
	 * A client gets at most its share of the slots, and of the queue; the rest stays free for others.
	 */
	async enter(signal: AbortSignal, client = '', share = 1): Promise<(() => void) | undefined> {
		signal.throwIfAborted();
		const most = partOf(this.#places, share);
		if (this.#inside < this.#places && this.#of(client) < most) {
			this.#count(client, 1);
			return this.#exit(client);
		}
		const {length: own} = this.#waiting.filter(one => one.client === client);
		if (this.#waiting.length >= this.#waitingPlaces || own >= partOf(this.#waitingPlaces, share)) return;
		await new Promise<void>((resolve, reject) => {
			const giveUp = (): void => {
				this.#waiting.splice(this.#waiting.indexOf(entry), 1);
				reject(signal.reason);
			};
			const proceed = (): void => {
				signal.removeEventListener('abort', giveUp);
				resolve();
			};
			const entry: Waiting = {proceed, client, most};
			this.#waiting.push(entry);
			signal.addEventListener('abort', giveUp, {once: true});
		});
		return this.#exit(client);
	}

	#of(client: string): number {
		return this.#insideOf.get(client) ?? 0;
	}

	#count(client: string, change: number): void {
		const count = this.#of(client) + change;
		this.#inside += change;
		if (count > 0) this.#insideOf.set(client, count);
		else this.#insideOf.delete(client);
	}

	/** Whoever leaves hands the place to the next one, so that nobody who comes just then can take it. */
	#exit(client: string): () => void {
		let isInside = true;
		return () => {
			if (!isInside) return;
			isInside = false;
			this.#count(client, -1);
			const at = this.#waiting.findIndex(one => this.#of(one.client) < one.most);
			const [next] = at === -1 ? [] : this.#waiting.splice(at, 1);
			if (!next) return;
			this.#count(next.client, 1);
			next.proceed();
		};
	}
}

/** The number of slots for a client with this share: at least one. Rounded, since 15 / 22 of 22 is a little less than 15. */
const partOf = (places: number, share: number): number =>
	Math.max(1, Math.floor(places * Math.min(1, share) + 1e-9));
