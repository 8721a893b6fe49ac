import {bufferLimit, type EvictableBuffer} from '../../core/buffer-limit.js';
import {compactEnvelope} from '../../core/compact-envelope.js';
import type {Envelope} from '../../core/envelope.js';
import type {Log} from '../../core/log.js';

const MAX_MESSAGES = 1000;
const MAX_BYTES = 4 * 2 ** 20;

/** Messages for a client without an open stream. At the limit, the oldest are dropped. */
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
		// Logged only at powers of two, so that a flood does not fill the log.
		if ((this.#dropped & (this.#dropped - 1)) !== 0) return;
		const text = `${this.#name} has no open stream; its oldest messages were dropped (${this.#dropped} so far).`;
		this.#log.warn('http.unheard', text, {method: oldest?.head.method, lost: this.#dropped});
	}

	takeAll(): Envelope[] {
		const all = this.#messages;
		this.#messages = [];
		this.#bytes = 0;
		return all;
	}
}
