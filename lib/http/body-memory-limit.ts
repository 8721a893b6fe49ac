import type {ServerResponse} from 'node:http';
import {SlotMap} from '../core/fast/slot-map.js';
import type {BodyMemory} from './read-body.js';

/** How much of the bodies of all requests may be kept at a time; more where one message may be longer than a part of it. */
const MIN_BYTES = 256 * 2 ** 20;
const MIN_MESSAGES = 4;

/** What is kept of the body of a request. */
type BufferedBody = {readonly number: number; bytes: number; evict: (() => void) | undefined};

/**
 * The room that there is for the bodies of requests which come in several pieces, of all clients together. A body is kept
 * until its request is answered. Those that come in one piece are short, and there are no more of them than connections.
 *
 * Where there is no more room, who began last gives way, so that those who began earlier come to their end.
 */
export class BodyMemoryLimit {
	readonly #maxBytes: () => number;
	/** Who began last is the last. */
	readonly #bodies = new SlotMap<number, BufferedBody>();
	#count = 0;
	#totalBytes = 0;

	/** `messageBytes` tells how long one message may be, which may change. */
	constructor(messageBytes: () => number) {
		this.#maxBytes = () => Math.max(MIN_BYTES, MIN_MESSAGES * messageBytes());
	}

	/** The room of the request that is answered so. */
	forResponse(response: ServerResponse): BodyMemory {
		return new RequestBodyMemory(this, response);
	}

	add(response: ServerResponse, evict: () => void): BufferedBody {
		const part: BufferedBody = {number: ++this.#count, bytes: 0, evict};
		this.#bodies.set(part.number, part);
		response.once('close', () => this.#release(part));
		return part;
	}

	/** Takes room for one more piece. Returns whether there was any. */
	reserve(part: BufferedBody, bytes: number): boolean {
		while (this.#totalBytes + bytes > this.#maxBytes()) {
			const latest = [...this.#bodies.values()].findLast(({evict: refuse}) => refuse);
			this.#release(latest ?? part);
			if (latest === undefined || latest === part) return false;
			latest.evict?.();
		}
		part.bytes += bytes;
		this.#totalBytes += bytes;
		return true;
	}

	#release({number}: BufferedBody): void {
		this.#totalBytes -= this.#bodies.take(number)?.bytes ?? 0;
	}
}

/** What one request takes of it, from its second piece on. */
class RequestBodyMemory implements BodyMemory {
	readonly #limit: BodyMemoryLimit;
	readonly #response: ServerResponse;
	#body: BufferedBody | undefined;

	constructor(all: BodyMemoryLimit, response: ServerResponse) {
		this.#limit = all;
		this.#response = response;
	}

	reserve(bytes: number, evict: () => void): boolean {
		this.#body ??= this.#limit.add(this.#response, evict);
		return this.#limit.reserve(this.#body, bytes);
	}

	/** All of it has come, so it gives way to nobody. */
	complete(): void {
		if (this.#body) this.#body.evict = undefined;
	}
}
