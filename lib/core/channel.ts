import {Observable, type Observer, type Subscriber} from 'rxjs';
import type {Envelope} from './envelope.js';

/**
 * A hot stream of messages, like a Subject.
 *
 * RxJS's Subject allocates a closure and often an array per emission, and each message passes several
 * channels.
 */
export class Channel extends Observable<Envelope> implements Observer<Envelope> {
	/** Replaced, never mutated, because listeners may subscribe or unsubscribe during an emission. */
	#listeners: ReadonlyArray<Subscriber<Envelope>> = [];
	#end: {readonly error?: unknown} | undefined;

	constructor() {
		super(subscriber => this.#add(subscriber));
	}

	next(envelope: Envelope): void {
		for (const listener of this.#listeners) listener.next(envelope);
	}

	error(error: unknown): void {
		this.#finish({error});
	}

	complete(): void {
		this.#finish({});
	}

	#add(subscriber: Subscriber<Envelope>): () => void {
		if (this.#end) emitEnd(subscriber, this.#end);
		else this.#listeners = [...this.#listeners, subscriber];
		return () => {
			this.#listeners = this.#listeners.filter(listener => listener !== subscriber);
		};
	}

	#finish(end: {readonly error?: unknown}): void {
		if (this.#end) return;
		this.#end = end;
		const listeners = this.#listeners;
		this.#listeners = [];
		for (const listener of listeners) emitEnd(listener, end);
	}
}

const emitEnd = (subscriber: Subscriber<Envelope>, end: {readonly error?: unknown}): void =>
	'error' in end ? subscriber.error(end.error) : subscriber.complete();
