import {Observable, Subscriber} from 'rxjs';
import {Channel} from './channel.js';
import type {Envelope} from './envelope.js';
import {type Operator, pipeThrough, type Stage} from './stage.js';

/** Tells that there is nothing left to do for a message. */
type BypassPredicate = (envelope: Envelope) => boolean;

/** Stages that stand in the way of messages unless `isPlain` says that there is nothing left for them to do. */
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

/** Hands on all that comes, without being the one that it is handed to: its end is its own. */
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

/** Sends messages on their way, or around it. The end always goes the long way, since stages wait for it. */
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
