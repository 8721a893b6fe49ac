import {Observable, Subscriber} from 'rxjs';
import {Channel} from './channel.js';
import type {Envelope} from './envelope.js';
import {type Operator, pipeThrough, type Stage} from './stage.js';

/** Returns whether a message needs no processing by the stages. */
type BypassPredicate = (envelope: Envelope) => boolean;

/** Wraps stages so that messages for which `canBypass` returns true skip them. */
export const bypassWhen = (canBypass: BypassPredicate, stages: readonly Stage[]): Stage => ({
	toUpstream: bypassOperator(
		canBypass,
		stages.map(stage => stage.toUpstream),
	),
	toClient: bypassOperator(canBypass, stages.map(stage => stage.toClient).reverse()),
});

const bypassOperator =
	(canBypass: BypassPredicate, operators: ReadonlyArray<Operator | undefined>): Operator =>
	source =>
		new Observable(subscriber => {
			const inner = new Channel();
			subscriber.add(pipeThrough(inner, operators).subscribe(new InnerSubscriber(subscriber)));
			return source.subscribe(new BypassSubscriber(subscriber, inner, canBypass));
		});

/**
 * Forwards everything to `next`. A subscriber with its own lifetime, so its end does not unsubscribe `next`.
 */
class InnerSubscriber extends Subscriber<Envelope> {
	readonly #next: Subscriber<Envelope>;

	constructor(next: Subscriber<Envelope>) {
		super();
		this.#next = next;
	}

	override next(envelope: Envelope): void {
		this.#next.next(envelope);
	}

	protected override _error(error: unknown): void {
		this.#next.error(error);
	}

	protected override _complete(): void {
		this.#next.complete();
	}
}

/**
 * Sends each message through the inner stages or around them. The end always passes through the stages, since
 * they react to it.
 */
class BypassSubscriber extends Subscriber<Envelope> {
	readonly #next: Subscriber<Envelope>;
	readonly #inner: Channel;
	readonly #canBypass: BypassPredicate;

	constructor(next: Subscriber<Envelope>, inner: Channel, canBypass: BypassPredicate) {
		super();
		this.#next = next;
		this.#inner = inner;
		this.#canBypass = canBypass;
	}

	override next(envelope: Envelope): void {
		if (this.isStopped) return;
		if (this.#canBypass(envelope)) this.#next.next(envelope);
		else this.#inner.next(envelope);
	}

	protected override _error(error: unknown): void {
		this.#inner.error(error);
	}

	protected override _complete(): void {
		this.#inner.complete();
	}
}
