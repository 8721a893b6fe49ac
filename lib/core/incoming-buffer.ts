import {Observable, type Subscriber} from 'rxjs';
import type {Envelope} from './envelope.js';
import {QueuedMessages} from './requests/queued.js';

/**
 * The messages of a peer for a single subscriber.
 *
 * Messages that arrive before the subscription are queued; at the limit the valve of their origin is shut. An
 * early end is kept, too.
 */
export class IncomingBuffer {
	readonly messages: Observable<Envelope>;
	readonly #queued = new QueuedMessages();
	#subscriber: Subscriber<Envelope> | undefined;
	#end: {readonly error: unknown} | undefined;

	constructor() {
		this.messages = new Observable(subscriber => {
			this.#subscriber = subscriber;
			for (const envelope of this.#queued.drain()) subscriber.next(envelope);
			this.#deliverEnd();
		});
	}

	next(envelope: Envelope): void {
		if (this.#end) return;
		if (this.#subscriber) this.#subscriber.next(envelope);
		else this.#queued.add(envelope);
	}

	/** Ends the stream, with an error if present. Only the first call has an effect. */
	end(error?: unknown): void {
		this.#end ??= {error};
		this.#deliverEnd();
	}

	#deliverEnd(): void {
		if (!this.#end) return;
		if (this.#end.error === undefined) this.#subscriber?.complete();
		else this.#subscriber?.error(this.#end.error);
	}
}
