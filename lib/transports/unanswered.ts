import type {Envelope, Origin} from '../envelope.js';
import {HeldMessages} from '../held-messages.js';
import {PassingMap} from '../passing-map.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';

/** A request without a response: its id as text, and its sender. */
export type Unanswered = {readonly id: string; readonly origin: Origin};

/** The requests to one upstream that have no response: those that were sent to it, and the messages that wait for it. */
export class UnansweredRequests {
	readonly #sent = new PassingMap<string, Unanswered>();
	readonly held = new HeldMessages();

	sent({head: {id, key, method}, origin}: Envelope): void {
		if (id !== undefined && method !== undefined) this.#sent.set(key ?? '', {id, origin});
	}

	answered(key: string): void {
		this.#sent.delete(key);
	}

	/** Forgets the request that a `notifications/cancelled` names. Returns whether it was never sent. */
	cancelled({bytes}: Envelope): boolean {
		const id = memberText(bytes, 'params', 'requestId');
		if (id === undefined) return false;
		this.#sent.delete(canonicalId(id));
		return this.held.remove(id);
	}

	/** Removes the requests that were sent. */
	takeSent(): Unanswered[] {
		const sent = [...this.#sent.values()];
		this.#sent.clear();
		return sent;
	}

	/** Removes these and the messages that wait; notifications among them are dropped. */
	takeAll(): Unanswered[] {
		const held = this.held
			.takeAll()
			.flatMap(({head: {id, method}, origin}) =>
				id === undefined || method === undefined ? [] : [{id, origin}],
			);
		return [...this.takeSent(), ...held];
	}
}
