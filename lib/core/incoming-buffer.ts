import {Observable, type Subscriber} from 'rxjs';
import type {Envelope} from './envelope.js';
import {QueuedMessages} from './requests/queued.js';

/**
 * What a peer says, for the one who listens.
 *
 * What comes before somebody does is kept, up to the bound at which its origin is shut; the end is kept, too.
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

	/** Ends, by an error if one is given. Only the first end counts. */
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
