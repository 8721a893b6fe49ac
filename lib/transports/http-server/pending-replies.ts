import type {Envelope} from '../../core/envelope.js';
import {SlotMap} from '../../core/fast/slot-map.js';
import {exactId} from '../../wire/id.js';
import type {HttpReply} from './http-reply.js';
import {PostOrigin} from './post-origin.js';

/** The incomplete replies of a session, by the number of the POST and by the exact id of its request. */
export class PendingReplies {
	readonly #byNumber = new SlotMap<number, HttpReply>();
	readonly #byId = new SlotMap<string, HttpReply>();

	get size(): number {
		return this.#byNumber.size;
	}

	values(): Iterable<HttpReply> {
		return this.#byNumber.values();
	}

	has(number: number): boolean {
		return this.#byNumber.has(number);
	}

	add(number: number, reply: HttpReply): void {
		const id = exactIdOf(reply.request);
		this.#byNumber.set(number, reply);
		if (id !== undefined && !this.#byId.has(id)) this.#byId.set(id, reply);
	}

	/** The reply that a response belongs to. A response that bridge created has the origin of its request. */
	findByResponse(response: Envelope): HttpReply | undefined {
		const {origin} = response;
		const reply = origin instanceof PostOrigin ? this.#byNumber.get(origin.number) : undefined;
		return reply ?? this.findById(exactIdOf(response));
	}

	findById(id: string | undefined): HttpReply | undefined {
		return id === undefined ? undefined : this.#byId.get(id);
	}

	remove({request}: HttpReply): void {
		const id = exactIdOf(request);
		const {origin} = request;
		const reply = origin instanceof PostOrigin ? this.#byNumber.take(origin.number) : undefined;
		if (id !== undefined && this.#byId.get(id) === reply) this.#byId.delete(id);
	}

	clear(): void {
		this.#byNumber.clear();
		this.#byId.clear();
	}
}

const exactIdOf = ({head: {id}}: Envelope): string | undefined =>
	id === undefined ? undefined : exactId(id);
