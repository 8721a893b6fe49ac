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
	readonly disconnected: Promise<void>;
	/** Ends the connection. Resolves then, with the status that a peer behind HTTP answered to that, if it was asked. */
	close(): Promise<unknown>;
	/** Whether the request with this id waits here, and was not sent to the peer. */
	hasQueued?(id: string): boolean;
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
	const subscription = new Subscription();
	const toClient = stages.map(stage => stage.toClient).reverse();
	const toUpstream = stages.map(stage => stage.toUpstream);
	subscription.add(
		pipeThrough(upstream.incoming, toClient).subscribe(new EndpointSubscriber(client.outgoing, onBug)),
	);
	subscription.add(
		pipeThrough(client.incoming, toUpstream).subscribe(new EndpointSubscriber(upstream.outgoing, onBug)),
	);
	return subscription;
}

/** Hands messages to an endpoint, and tells of what is a bug. */
class EndpointSubscriber extends Subscriber<Envelope> {
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
export const pipeThrough = (
	source: Observable<Envelope>,
	operators: ReadonlyArray<Operator | undefined>,
): Observable<Envelope> => operators.reduce((stream, operator) => operator?.(stream) ?? stream, source);

/** An endpoint with stages in front of it, listed from the client's end. */
export function behind(stages: readonly Stage[], upstream: Endpoint): Endpoint {
	const outgoing = new Channel();
	pipeThrough(
		outgoing,
		stages.map(stage => stage.toUpstream),
	).subscribe(upstream.outgoing);
	const toClient = stages.map(stage => stage.toClient).reverse();
	return {...upstream, outgoing, incoming: pipeThrough(upstream.incoming, toClient)};
}

/** Sends a message back the way the present one came, to the side that caused it. */
export type Emit = (envelope: Envelope) => void;

/** What a stage does with one message: pass it on, changed or not, or swallow it by returning nothing. */
export type StageStep = (envelope: Envelope, answer: Emit) => Envelope | undefined;

export type StageSteps = {
	readonly toUpstream?: StageStep;
	readonly toClient?: StageStep;
	/** The upstream is gone, with the error it died of if it did. */
	readonly upstreamClosed?: (error: unknown) => void;
	/** Whether the client's side goes on without an upstream, with this stage to answer for it. */
	readonly outlivesUpstream?: boolean;
	/** The client will say no more. What the stage still holds for the upstream has to go out before `done` is called. */
	readonly clientEnded?: (done: () => void) => void;
	/** The conversation is over: timers stop here. */
	readonly teardown?: () => void;
};

/** Puts messages of a stage's own on their way from where the stage stands. */
export type StageOutputs = {
	readonly toUpstream: Emit;
	readonly toClient: Emit;
};

/** A stage made of one function a direction, which is all that most stages are. */
export const perMessage = (steps: StageSteps): Stage => stage(() => steps);

/**
 * A stage that also speaks of its own accord.
 *
 * A step that throws a BridgeError fails its own message only: the sender of a request gets the error as the answer,
 * and the stream goes on. Any other error is a bug and ends the conversation.
 */
export function stage(build: (out: StageOutputs) => StageSteps): Stage {
	const toUpstream = new Channel();
	const toClient = new Channel();
	const steps = build({
		toUpstream: envelope => toUpstream.next(envelope),
		toClient: envelope => toClient.next(envelope),
	});
	return {
		toUpstream: direction(steps.toUpstream, toUpstream, toClient, {
			ended: steps.clientEnded,
			teardown: steps.teardown,
		}),
		toClient: direction(steps.toClient, toClient, toUpstream, {
			closed: steps.upstreamClosed,
			staysOpen: steps.outlivesUpstream,
		}),
	};
}

type EndHandlers = {
	readonly closed?: ((error: unknown) => void) | undefined;
	readonly ended?: ((done: () => void) => void) | undefined;
	readonly teardown?: (() => void) | undefined;
	readonly staysOpen?: boolean | undefined;
};

function direction(
	step: StageStep | undefined,
	forward: Channel,
	back: Channel,
	handlers: EndHandlers,
): Operator {
	const reply: Emit = envelope => back.next(envelope);
	return source =>
		new Observable(subscriber => {
			subscriber.add(forward.subscribe(envelope => subscriber.next(envelope)));
			if (handlers.teardown) subscriber.add(handlers.teardown);
			const isPassive = !step && !handlers.closed && !handlers.staysOpen && !handlers.ended;
			return source.subscribe(isPassive ? subscriber : new StepSubscriber(subscriber, step, reply, handlers));
		});
}

/** Carries a step out. A class of RxJS's own kind, since an observer in its place costs three more calls a message. */
class StepSubscriber extends Subscriber<Envelope> {
	readonly #step: StageStep | undefined;
	readonly #reply: Emit;
	readonly #handlers: EndHandlers;
	readonly #next: Subscriber<Envelope>;

	constructor(next: Subscriber<Envelope>, step: StageStep | undefined, reply: Emit, handlers: EndHandlers) {
		super(next);
		this.#next = next;
		this.#step = step;
		this.#reply = reply;
		this.#handlers = handlers;
	}

	override next(envelope: Envelope): void {
		if (this.isStopped) return;
		try {
			const result = this.#step ? this.#step(envelope, this.#reply) : envelope;
			if (result) this.#next.next(result);
		} catch (error) {
			if (error instanceof BridgeError) replyWithError(envelope, error, this.#reply);
			else this.#next.error(error);
		}
	}

	protected override _error(error: unknown): void {
		this.#handlers.closed?.(error);
		if (!this.#handlers.staysOpen) this.#next.error(error);
	}

	protected override _complete(): void {
		this.#handlers.closed?.(undefined);
		if (this.#handlers.staysOpen) return;
		if (this.#handlers.ended) this.#handlers.ended(() => this.#next.complete());
		else this.#next.complete();
	}
}

function replyWithError({head: {id, method}, origin}: Envelope, error: BridgeError, reply: Emit): void {
	if (id !== undefined && method !== undefined) reply(Envelope.errorResponse(id, error, origin));
}
