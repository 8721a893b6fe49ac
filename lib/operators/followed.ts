import {Observable, Subscriber} from 'rxjs';
import type {Envelope} from '../envelope.js';
import type {Operator} from '../stage.js';

/**
 * Looks at a message after it went its way, when the stages ahead have done with it what they do. `ended` is told before they
 * are that there are no more, with the error if that was why.
 */
export const followed =
	(look: (envelope: Envelope) => void, ended: (error?: unknown) => void = () => {}): Operator =>
	source =>
		new Observable(subscriber => source.subscribe(new Follower(subscriber, look, ended)));

class Follower extends Subscriber<Envelope> {
	readonly #next: Subscriber<Envelope>;
	readonly #look: (envelope: Envelope) => void;
	readonly #ended: (error?: unknown) => void;

	constructor(
		next: Subscriber<Envelope>,
		look: (envelope: Envelope) => void,
		ended: (error?: unknown) => void,
	) {
		super(next);
		this.#next = next;
		this.#look = look;
		this.#ended = ended;
	}

	override next(envelope: Envelope): void {
		if (this.isStopped) return;
		this.#next.next(envelope);
		this.#look(envelope);
	}

	protected override _error(error: unknown): void {
		this.#ended(error);
		super._error(error);
	}

	protected override _complete(): void {
		this.#ended();
		super._complete();
	}
}
