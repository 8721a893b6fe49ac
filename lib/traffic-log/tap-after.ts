import {Observable, Subscriber} from 'rxjs';
import type {Envelope} from '../core/envelope.js';
import type {Operator} from '../core/stage.js';

/**
 * Looks at a message after it went its way, when the stages ahead have done with it what they do. `ended` is told before they
 * are that there are no more, with the error if that was why.
 */
export const tapAfter =
	(onDelivered: (envelope: Envelope) => void, onEnd: (error?: unknown) => void = () => {}): Operator =>
	source =>
		new Observable(subscriber => source.subscribe(new TapAfterSubscriber(subscriber, onDelivered, onEnd)));

class TapAfterSubscriber extends Subscriber<Envelope> {
	readonly #next: Subscriber<Envelope>;
	readonly #onDelivered: (envelope: Envelope) => void;
	readonly #onEnd: (error?: unknown) => void;

	constructor(
		next: Subscriber<Envelope>,
		onDelivered: (envelope: Envelope) => void,
		onEnd: (error?: unknown) => void,
	) {
		super(next);
		this.#next = next;
		this.#onDelivered = onDelivered;
		this.#onEnd = onEnd;
	}

	override next(envelope: Envelope): void {
		if (this.isStopped) return;
		this.#next.next(envelope);
		this.#onDelivered(envelope);
	}

	protected override _error(error: unknown): void {
		this.#onEnd(error);
		super._error(error);
	}

	protected override _complete(): void {
		this.#onEnd();
		super._complete();
	}
}
