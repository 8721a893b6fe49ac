import type {Envelope} from '../envelope.js';
import {canonicalId} from '../wire/id.js';

const MAX_MESSAGES = 1000;
const MAX_BYTES = 8 * 2 ** 20;

/** Messages that wait for an upstream, in the order in which they came. */
export class HeldMessages {
	static readonly LIMITS = `${MAX_MESSAGES} messages or ${MAX_BYTES / 2 ** 20} MiB`;
	#messages: Envelope[] = [];
	#bytes = 0;

	get isEmpty(): boolean {
		return this.#messages.length === 0;
	}

	/** Whether there was room for it. */
	add(envelope: Envelope): boolean {
		if (this.#messages.length >= MAX_MESSAGES || this.#bytes + envelope.size > MAX_BYTES) return false;
		this.#messages.push(envelope);
		this.#bytes += envelope.size;
		return true;
	}

	/** Takes the request with this id out. */
	remove(id: string): void {
		const key = canonicalId(id);
		const at = this.#messages.findIndex(({head}) => head.key === key && head.method !== undefined);
		const [removed] = at === -1 ? [] : this.#messages.splice(at, 1);
		this.#bytes -= removed?.size ?? 0;
	}

	takeAll(): Envelope[] {
		const all = this.#messages;
		this.#messages = [];
		this.#bytes = 0;
		return all;
	}
}
