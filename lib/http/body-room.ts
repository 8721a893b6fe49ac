import type {ServerResponse} from 'node:http';

/** How much of the bodies of all requests may be kept at a time; more where one message may be longer than a part of it. */
const MIN_BYTES = 256 * 2 ** 20;
const MIN_MESSAGES = 4;

/** What is kept of the body of a request. */
type Part = {bytes: number; refuse: (() => void) | undefined};

/**
 * The room that there is for the bodies of requests which come in several pieces, of all clients together. A body is kept
 * until its request is answered. Those that come in one piece are short, and there are no more of them than connections.
 *
 * Where there is no more room, who began last gives way, so that those who began earlier come to their end.
 */
export class BodyRoom {
	readonly #maxBytes: () => number;
	/** Who began last is the last. */
	readonly #parts = new Map<ServerResponse, Part>();
	#sum = 0;

	/** `messageBytes` tells how long one message may be, which may change. */
	constructor(messageBytes: () => number) {
		this.#maxBytes = () => Math.max(MIN_BYTES, MIN_MESSAGES * messageBytes());
	}

	/**
	 * Takes room for one more piece of the request that is answered so. Returns whether there was any. `refuse` is called when
	 * the request has to give way to another one.
	 */
	take(response: ServerResponse, bytes: number, refuse: () => void): boolean {
		const part = this.#parts.get(response) ?? this.#begin(response, refuse);
		while (this.#sum + bytes > this.#maxBytes()) {
			const [latest, other] = [...this.#parts].findLast(([, {refuse}]) => refuse) ?? [];
			if (latest === undefined || latest === response) {
				this.#free(response);
				return false;
			}
			this.#free(latest);
			other?.refuse?.();
		}
		part.bytes += bytes;
		this.#sum += bytes;
		return true;
	}

	/** All of it has come, so it gives way to nobody. */
	settle(response: ServerResponse): void {
		const part = this.#parts.get(response);
		if (part) part.refuse = undefined;
	}

	#begin(response: ServerResponse, refuse: () => void): Part {
		const part: Part = {bytes: 0, refuse};
		this.#parts.set(response, part);
		response.once('close', () => this.#free(response));
		return part;
	}

	#free(response: ServerResponse): void {
		this.#sum -= this.#parts.get(response)?.bytes ?? 0;
		this.#parts.delete(response);
	}
}
