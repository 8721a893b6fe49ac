import {type MonoTypeOperatorFunction, Observable, type Observer, Subscriber, Subscription} from 'rxjs';
import {Channel} from './channel.js';
import {Envelope} from './envelope.js';
import {BridgeError} from './errors.js';

/** What every step of a pipeline is: a stream of messages in, a stream of messages out. */
export type Operator = MonoTypeOperatorFunction<Envelope>;

/** One concern of the proxy, as it acts in either direction. A direction left out passes everything through. */
export type Stage = {
	readonly toUpstream?: Operator;
	readonly toClient?: Operator;
};

/** One side of a proxied conversation. */
export type Endpoint = {
	readonly name: string;
	/** Messages from the peer, read only while the origin's valve is open. Ends when the peer does; fails when it died. */
	readonly incoming: Observable<Envelope>;
	/** Messages for the peer. Shuts the valve of a message's origin while the peer takes no more. */
	readonly outgoing: Observer<Envelope>;
	/** Resolves when the peer will say no more, or hears no more. */
	readonly gone: Promise<void>;
	/** Ends the connection. Resolves then, with the status that a peer behind HTTP answered to that, if it was asked. */
	close(): Promise<unknown>;
	/** Whether the request with this id waits here, and was not sent to the peer. */
	holds?(id: string): boolean;
};

/**
 * Lets a client and an upstream talk through stages, which are listed from the client's end. `onBug` is told of what no
 * stage has foreseen, which ends the conversation.
 */
export function connect(
	client: Endpoint,
	stages: readonly Stage[],
	upstream: Endpoint,
	onBug: (error: unknown) => void = () => {},
): Subscription {
	const link = new Subscription();
	const toClient = stages.map(stage => stage.toClient).reverse();
	const toUpstream = stages.map(stage => stage.toUpstream);
	link.add(through(upstream.incoming, toClient).subscribe(new Delivery(client.outgoing, onBug)));
	link.add(through(client.incoming, toUpstream).subscribe(new Delivery(upstream.outgoing, onBug)));
	return link;
}

/** Hands messages to an endpoint, and tells of what is a bug. */
class Delivery extends Subscriber<Envelope> {
	readonly #output: Observer<Envelope>;
	readonly #onBug: (error: unknown) => void;

	constructor(output: Observer<Envelope>, onBug: (error: unknown) => void) {
		super();
		this.#output = output;
		this.#onBug = onBug;
	}

	override next(envelope: Envelope): void {
		if (!this.isStopped) this.#output.next(envelope);
	}

	protected override _error(error: unknown): void {
		if (!(error instanceof BridgeError)) this.#onBug(error);
		this.#output.error(error);
		this.unsubscribe();
	}

	protected override _complete(): void {
		this.#output.complete();
		this.unsubscribe();
	}
}

/** The stream that comes out of operators, one after the other. A missing one changes nothing. */
export const through = (
	source: Observable<Envelope>,
	operators: ReadonlyArray<Operator | undefined>,
): Observable<Envelope> => operators.reduce((stream, operator) => operator?.(stream) ?? stream, source);

/** An endpoint with stages in front of it, listed from the client's end. */
export function behind(stages: readonly Stage[], upstream: Endpoint): Endpoint {
	const outgoing = new Channel();
	through(
		outgoing,
		stages.map(stage => stage.toUpstream),
	).subscribe(upstream.outgoing);
	const toClient = stages.map(stage => stage.toClient).reverse();
	return {...upstream, outgoing, incoming: through(upstream.incoming, toClient)};
}

/** Sends a message back the way the present one came, to the side that caused it. */
export type Answer = (envelope: Envelope) => void;

/** What a stage does with one message: pass it on, changed or not, or swallow it by returning nothing. */
export type Step = (envelope: Envelope, answer: Answer) => Envelope | undefined;

export type Steps = {
	readonly toUpstream?: Step;
	readonly toClient?: Step;
	/** The upstream is gone, with the error it died of if it did. */
	readonly upstreamGone?: (error: unknown) => void;
	/** Whether the client's side goes on without an upstream, with this stage to answer for it. */
	readonly outlivesUpstream?: boolean;
	/** The client will say no more. What the stage still holds for the upstream has to go out before `done` is called. */
	readonly clientDone?: (done: () => void) => void;
	/** The conversation is over: timers stop here. */
	readonly stopped?: () => void;
};

/** Puts messages of a stage's own on their way from where the stage stands. */
export type Outlets = {
	readonly toUpstream: Answer;
	readonly toClient: Answer;
};

/** A stage made of one function a direction, which is all that most stages are. */
export const perMessage = (steps: Steps): Stage => stage(() => steps);

/**
 * A stage that also speaks of its own accord.
 *
 * A step that throws a BridgeError fails its own message only: the sender of a request gets the error as the answer,
 * and the stream goes on. Any other error is a bug and ends the conversation.
 */
export function stage(build: (out: Outlets) => Steps): Stage {
	const toUpstream = new Channel();
	const toClient = new Channel();
	const steps = build({
		toUpstream: envelope => toUpstream.next(envelope),
		toClient: envelope => toClient.next(envelope),
	});
	return {
		toUpstream: direction(steps.toUpstream, toUpstream, toClient, {
			done: steps.clientDone,
			stopped: steps.stopped,
		}),
		toClient: direction(steps.toClient, toClient, toUpstream, {
			gone: steps.upstreamGone,
			staysOpen: steps.outlivesUpstream,
		}),
	};
}

type Ends = {
	readonly gone?: ((error: unknown) => void) | undefined;
	readonly done?: ((done: () => void) => void) | undefined;
	readonly stopped?: (() => void) | undefined;
	readonly staysOpen?: boolean | undefined;
};

function direction(step: Step | undefined, ahead: Channel, back: Channel, ends: Ends): Operator {
	const answer: Answer = envelope => back.next(envelope);
	return source =>
		new Observable(subscriber => {
			subscriber.add(ahead.subscribe(envelope => subscriber.next(envelope)));
			if (ends.stopped) subscriber.add(ends.stopped);
			const isPassive = !step && !ends.gone && !ends.staysOpen && !ends.done;
			return source.subscribe(isPassive ? subscriber : new StepSubscriber(subscriber, step, answer, ends));
		});
}

/** Carries a step out. A class of RxJS's own kind, since an observer in its place costs three more calls a message. */
class StepSubscriber extends Subscriber<Envelope> {
	readonly #step: Step | undefined;
	readonly #answer: Answer;
	readonly #ends: Ends;
	readonly #next: Subscriber<Envelope>;

	constructor(next: Subscriber<Envelope>, step: Step | undefined, answer: Answer, ends: Ends) {
		super(next);
		this.#next = next;
		this.#step = step;
		this.#answer = answer;
		this.#ends = ends;
	}

	override next(envelope: Envelope): void {
		if (this.isStopped) return;
		try {
			const onward = this.#step ? this.#step(envelope, this.#answer) : envelope;
			if (onward) this.#next.next(onward);
		} catch (error) {
			if (error instanceof BridgeError) refuse(envelope, error, this.#answer);
			else this.#next.error(error);
		}
	}

	protected override _error(error: unknown): void {
		this.#ends.gone?.(error);
		if (!this.#ends.staysOpen) this.#next.error(error);
	}

	protected override _complete(): void {
		this.#ends.gone?.(undefined);
		if (this.#ends.staysOpen) return;
		if (this.#ends.done) this.#ends.done(() => this.#next.complete());
		else this.#next.complete();
	}
}

function refuse({head: {id, method}, origin}: Envelope, error: BridgeError, answer: Answer): void {
	if (id !== undefined && method !== undefined) answer(Envelope.failure(id, error, origin));
}
