import {Observable, type Subscriber} from 'rxjs';
import type {Envelope} from '../envelope.js';
import {HeldMessages} from '../held-messages.js';

/**
 * What a peer says, for the one who listens.
 *
 * What comes before somebody does is kept, up to the bound at which its origin is shut; the end is kept, too.
 */
export class Inbox {
	readonly messages: Observable<Envelope>;
	readonly #held = new HeldMessages();
	#listener: Subscriber<Envelope> | undefined;
	#end: {readonly error: unknown} | undefined;

	constructor() {
		this.messages = new Observable(subscriber => {
			this.#listener = subscriber;
			for (const envelope of this.#held.takeAll()) subscriber.next(envelope);
			this.#tellEnd();
		});
	}

	next(envelope: Envelope): void {
		if (this.#end) return;
		if (this.#listener) this.#listener.next(envelope);
		else this.#held.add(envelope);
	}

	/** Ends, by an error if one is given. Only the first end counts. */
	end(error?: unknown): void {
		this.#end ??= {error};
		this.#tellEnd();
	}

	#tellEnd(): void {
		if (!this.#end) return;
		if (this.#end.error === undefined) this.#listener?.complete();
		else this.#listener?.error(this.#end.error);
	}
}
