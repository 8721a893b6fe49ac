import {bufferLimit, type EvictableBuffer} from '../../core/buffer-limit.js';
import {compactEnvelope} from '../../core/compact-envelope.js';
import type {Envelope} from '../../core/envelope.js';
import type {Log} from '../../core/log.js';

const MAX_MESSAGES = 1000;
const MAX_BYTES = 4 * 2 ** 20;

/** What is to be said to a client that does not listen at the moment. The oldest goes when there is too much of it. */
export class MessageBacklog implements EvictableBuffer {
	readonly #name: string;
	readonly #log: Log;
	#messages: Envelope[] = [];
	#bytes = 0;
	#dropped = 0;

	constructor(name: string, log: Log) {
		this.#name = name;
		this.#log = log;
		bufferLimit.register(this);
	}

	get bufferedBytes(): number {
		return this.#bytes;
	}

	add(envelope: Envelope): void {
		this.#messages.push(compactEnvelope(envelope));
		this.#bytes += envelope.size;
		bufferLimit.added(envelope.size);
		while (this.#messages.length > MAX_MESSAGES || this.#bytes > MAX_BYTES) this.#dropOldest();
	}

	evict(): void {
		while (this.#messages.length > 0) this.#dropOldest();
	}

	#dropOldest(): void {
		const oldest = this.#messages.shift();
		this.#bytes -= oldest?.size ?? 0;
		this.#dropped++;
		// A server that says much would fill the log else.
		if ((this.#dropped & (this.#dropped - 1)) !== 0) return;
		const sentence = `${this.#name} does not listen; ${this.#dropped} of the messages for it were given up, the oldest first.`;
		this.#log.warn('http.unheard', sentence, {method: oldest?.head.method, lost: this.#dropped});
	}

	takeAll(): Envelope[] {
		const all = this.#messages;
		this.#messages = [];
		this.#bytes = 0;
		return all;
	}
}
