import type {ServerResponse} from 'node:http';
import {SlotMap} from '../core/fast/slot-map.js';
import type {BodyMemory} from './read-body.js';

/**
 * The memory for all request bodies: this many bytes, or this many messages of maximum length if that is
 * more.
 */
const MIN_BYTES = 256 * 2 ** 20;
const MIN_MESSAGES = 4;

type BufferedBody = {readonly number: number; bytes: number; evict: (() => void) | undefined};

/**
 * Limits the memory of request bodies that arrive in several chunks, of all clients together. The memory of a
 * body is released when its response closes. Bodies of one chunk are not counted: they are short, and there
 * is at most one per connection.
 *
 * Over the limit, the most recent body is evicted, so that earlier ones can complete.
 */
export class BodyMemoryLimit {
	readonly #maxBytes: () => number;
	/** In the order in which the bodies started. */
	readonly #bodies = new SlotMap<number, BufferedBody>();
	#count = 0;
	#totalBytes = 0;

	/** `messageBytes` returns the maximum length of one message, which may change. */
	constructor(messageBytes: () => number) {
		this.#maxBytes = () => Math.max(MIN_BYTES, MIN_MESSAGES * messageBytes());
	}

	forResponse(response: ServerResponse): BodyMemory {
		return new RequestBodyMemory(this, response);
	}

	add(response: ServerResponse, evict: () => void): BufferedBody {
		const body: BufferedBody = {number: ++this.#count, bytes: 0, evict};
		this.#bodies.set(body.number, body);
		response.once('close', () => this.#release(body));
		return body;
	}

	/** Reserves memory for one more chunk. Returns false if this body was evicted. */
	reserve(body: BufferedBody, bytes: number): boolean {
		while (this.#totalBytes + bytes > this.#maxBytes()) {
			const latest = [...this.#bodies.values()].findLast(({evict}) => evict);
			this.#release(latest ?? body);
			if (latest === undefined || latest === body) return false;
			latest.evict?.();
		}
		body.bytes += bytes;
		this.#totalBytes += bytes;
		return true;
	}

	#release({number}: BufferedBody): void {
		this.#totalBytes -= this.#bodies.take(number)?.bytes ?? 0;
	}
}

/** The memory of one body, from its second chunk on. */
class RequestBodyMemory implements BodyMemory {
	readonly #limit: BodyMemoryLimit;
	readonly #response: ServerResponse;
	#body: BufferedBody | undefined;

	constructor(limit: BodyMemoryLimit, response: ServerResponse) {
		this.#limit = limit;
		this.#response = response;
	}

	reserve(bytes: number, evict: () => void): boolean {
		this.#body ??= this.#limit.add(this.#response, evict);
		return this.#limit.reserve(this.#body, bytes);
	}

	/** A complete body is not evicted any more. */
	complete(): void {
		if (this.#body) this.#body.evict = undefined;
	}
}
