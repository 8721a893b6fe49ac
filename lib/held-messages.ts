import type {Envelope} from './envelope.js';
import {canonicalId} from './wire/id.js';

const MAX_MESSAGES = 1000;
const MAX_BYTES = 8 * 2 ** 20;

/**
 * Messages that wait for an upstream, in the order in which they came.
 *
 * When there are as many as may be, whoever sends them is not read any further. What has been read by then is kept, too.
 */
export class HeldMessages {
	#messages: Envelope[] = [];
	#bytes = 0;
	/** Lets the sender go on, while it is held back. */
	#release: (() => void) | undefined;

	/** Bytes of all messages. */
	get bytes(): number {
		return this.#bytes;
	}

	get isEmpty(): boolean {
		return this.#messages.length === 0;
	}

	add(envelope: Envelope): void {
		this.#messages.push(envelope);
		this.#bytes += envelope.size;
		if (this.isFull) this.#release ??= envelope.origin.valve.shut();
	}

	get isFull(): boolean {
		return this.#messages.length >= MAX_MESSAGES || this.#bytes >= MAX_BYTES;
	}

	/** Whether the request with this id is among them. */
	has(id: string): boolean {
		return this.#indexOf(id) !== -1;
	}

	/** Takes the request with this id out. Returns whether it was there. */
	remove(id: string): boolean {
		const at = this.#indexOf(id);
		const [removed] = at === -1 ? [] : this.#messages.splice(at, 1);
		this.#bytes -= removed?.size ?? 0;
		if (!this.isFull) this.#letGo();
		return removed !== undefined;
	}

	takeAll(): Envelope[] {
		const all = this.#messages;
		this.#messages = [];
		this.#bytes = 0;
		this.#letGo();
		return all;
	}

	#indexOf(id: string): number {
		const key = canonicalId(id);
		return this.#messages.findIndex(({head}) => head.key === key && head.method !== undefined);
	}

	#letGo(): void {
		this.#release?.();
		this.#release = undefined;
	}
}
