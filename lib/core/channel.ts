import {Observable, type Observer, type Subscriber} from 'rxjs';
import type {Envelope} from './envelope.js';

/**
 * A stream of messages that somebody puts in by hand, for those who listen at the time.
 *
 * It is what a Subject of RxJS is, which makes a function and often a list for each message; a message passes several.
 */
export class Channel extends Observable<Envelope> implements Observer<Envelope> {
	/** Never changed in place, since listeners come and go while they are told something. */
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
