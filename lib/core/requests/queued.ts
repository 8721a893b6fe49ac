import {canonicalId} from '../../wire/id.js';
import type {Envelope} from '../envelope.js';

const MAX_MESSAGES = 1000;
const MAX_BYTES = 8 * 2 ** 20;

/**
 * Messages that wait for an upstream, in the order in which they came.
 *
 * When there are as many as may be, whoever sends them is not read any further. What has been read by then is kept, too.
 */
export class QueuedMessages {
	#messages: Envelope[] = [];
	#bytes = 0;
	/** Lets the sender go on, while it is held back. */
	#openValve: (() => void) | undefined;

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
		if (this.isFull) this.#openValve ??= envelope.origin.valve.shut();
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
		if (!this.isFull) this.#releaseSender();
		return removed !== undefined;
	}

	drain(): Envelope[] {
		const drained = this.#messages;
		this.#messages = [];
		this.#bytes = 0;
		this.#releaseSender();
		return drained;
	}

	#indexOf(id: string): number {
		const key = canonicalId(id);
		return this.#messages.findIndex(({head}) => head.key === key && head.method !== undefined);
	}

	#releaseSender(): void {
		this.#openValve?.();
		this.#openValve = undefined;
	}
}
