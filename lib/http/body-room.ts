import type {ServerResponse} from 'node:http';
import {PassingMap} from '../passing-map.js';
import type {Room} from './read-body.js';

/** How much of the bodies of all requests may be kept at a time; more where one message may be longer than a part of it. */
const MIN_BYTES = 256 * 2 ** 20;
const MIN_MESSAGES = 4;

/** What is kept of the body of a request. */
type Part = {readonly number: number; bytes: number; refuse: (() => void) | undefined};

/**
 * The room that there is for the bodies of requests which come in several pieces, of all clients together. A body is kept
 * until its request is answered. Those that come in one piece are short, and there are no more of them than connections.
 *
 * Where there is no more room, who began last gives way, so that those who began earlier come to their end.
 */
export class BodyRoom {
	readonly #maxBytes: () => number;
	/** Who began last is the last. */
	readonly #parts = new PassingMap<number, Part>();
	#count = 0;
	#sum = 0;

	/** `messageBytes` tells how long one message may be, which may change. */
	constructor(messageBytes: () => number) {
		this.#maxBytes = () => Math.max(MIN_BYTES, MIN_MESSAGES * messageBytes());
	}

	/** The room of the request that is answered so. */
	of(response: ServerResponse): Room {
		return new RoomOfOne(this, response);
	}

	begin(response: ServerResponse, refuse: () => void): Part {
		const part: Part = {number: ++this.#count, bytes: 0, refuse};
		this.#parts.set(part.number, part);
		response.once('close', () => this.#free(part));
		return part;
	}

	/** Takes room for one more piece. Returns whether there was any. */
	take(part: Part, bytes: number): boolean {
		while (this.#sum + bytes > this.#maxBytes()) {
			const latest = [...this.#parts.values()].findLast(({refuse}) => refuse);
			this.#free(latest ?? part);
			if (latest === undefined || latest === part) return false;
			latest.refuse?.();
		}
		part.bytes += bytes;
		this.#sum += bytes;
		return true;
	}

	#free({number}: Part): void {
		this.#sum -= this.#parts.take(number)?.bytes ?? 0;
	}
}

/** What one request takes of it, from its second piece on. */
class RoomOfOne implements Room {
	readonly #all: BodyRoom;
	readonly #response: ServerResponse;
	#part: Part | undefined;

	constructor(all: BodyRoom, response: ServerResponse) {
		this.#all = all;
		this.#response = response;
	}

	take(bytes: number, refuse: () => void): boolean {
		this.#part ??= this.#all.begin(this.#response, refuse);
		return this.#all.take(this.#part, bytes);
	}

	/** All of it has come, so it gives way to nobody. */
	settle(): void {
		if (this.#part) this.#part.refuse = undefined;
	}
}
