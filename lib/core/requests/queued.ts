import {canonicalId} from '../../wire/id.js';
import type {Envelope} from '../envelope.js';

const MAX_MESSAGES = 1000;
const MAX_BYTES = 8 * 2 ** 20;

/**
 * Messages queued for an upstream, in order of arrival.
 *
 * At the limit, the valve of the sender is shut. Messages that were already read are still queued.
 */
export class QueuedMessages {
	#messages: Envelope[] = [];
	#bytes = 0;
	/** Opens the sender's valve again. Undefined while the valve is open. */
	#openValve: (() => void) | undefined;

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

	has(id: string): boolean {
		return this.#indexOf(id) !== -1;
	}

	/** Removes the request with this id. Returns whether it was queued. */
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
