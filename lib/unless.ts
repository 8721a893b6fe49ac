import {Observable, Subscriber} from 'rxjs';
import {Channel} from './channel.js';
import type {Envelope} from './envelope.js';
import {type Operator, type Stage, through} from './stage.js';

/** Tells that there is nothing left to do for a message. */
type IsPlain = (envelope: Envelope) => boolean;

/** Stages that stand in the way of messages unless `isPlain` says that there is nothing left for them to do. */
export const unless = (isPlain: IsPlain, stages: readonly Stage[]): Stage => ({
	toUpstream: around(
		isPlain,
		stages.map(stage => stage.toUpstream),
	),
	toClient: around(isPlain, stages.map(stage => stage.toClient).reverse()),
});

const around =
	(isPlain: IsPlain, operators: ReadonlyArray<Operator | undefined>): Operator =>
	source =>
		new Observable(subscriber => {
			const inner = new Channel();
			subscriber.add(through(inner, operators).subscribe(new Relay(subscriber)));
			return source.subscribe(new Fork(subscriber, inner, isPlain));
		});

/** Hands on all that comes, without being the one that it is handed to: its end is its own. */
class Relay extends Subscriber<Envelope> {
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
class Fork extends Subscriber<Envelope> {
	readonly #next: Subscriber<Envelope>;
	readonly #inner: Channel;
	readonly #isPlain: IsPlain;

	constructor(next: Subscriber<Envelope>, inner: Channel, isPlain: IsPlain) {
		super();
		this.#next = next;
		this.#inner = inner;
		this.#isPlain = isPlain;
	}

	override next(envelope: Envelope): void {
		if (this.isStopped) return;
		if (this.#isPlain(envelope)) this.#next.next(envelope);
		else this.#inner.next(envelope);
	}

	protected override _error(error: unknown): void {
		this.#inner.error(error);
	}

	protected override _complete(): void {
		this.#inner.complete();
	}
}
