import type {Envelope, MessageOrigin} from '../core/envelope.js';
import {SlotMap} from '../core/fast/slot-map.js';
import {QueuedMessages} from '../core/requests/queued.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';

/** A request without a response: its id as JSON text, and its sender. */
export type UpstreamRequest = {readonly id: string; readonly origin: MessageOrigin};

/** The pending requests to one upstream, and the messages that are queued for it. */
export class UpstreamRequests {
	readonly #pending = new SlotMap<string, UpstreamRequest>();
	readonly queued = new QueuedMessages();

	addPending({head: {id, key, method}, origin}: Envelope): void {
		if (id !== undefined && method !== undefined) this.#pending.set(key ?? '', {id, origin});
	}

	removePending(key: string): void {
		this.#pending.delete(key);
	}

	/** Removes the request that a `notifications/cancelled` names. Returns whether it was still queued. */
	cancel({bytes}: Envelope): boolean {
		const id = memberText(bytes, 'params', 'requestId');
		if (id === undefined) return false;
		this.#pending.delete(canonicalId(id));
		return this.queued.remove(id);
	}

	takePending(): UpstreamRequest[] {
		const pending = [...this.#pending.values()];
		this.#pending.clear();
		return pending;
	}

	/** Removes and returns the pending and the queued requests. Queued notifications are dropped. */
	takeAll(): UpstreamRequest[] {
		const queued = this.queued
			.drain()
			.flatMap(({head: {id, method}, origin}) =>
				id === undefined || method === undefined ? [] : [{id, origin}],
			);
		return [...this.takePending(), ...queued];
	}
}
