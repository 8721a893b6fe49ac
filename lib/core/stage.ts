import {type MonoTypeOperatorFunction, Observable, type Observer, type Subscriber, Subscription} from 'rxjs';
import {Channel} from './channel.js';
import {Envelope} from './envelope.js';
import {BridgeError} from './errors.js';
import {subscribeDirectly} from './fast/subscriber.js';

/** One direction of a pipeline step: a stream of messages in, a stream of messages out. */
export type Operator = MonoTypeOperatorFunction<Envelope>;

/** One concern of the proxy, in both directions. A direction that is left out passes everything through. */
export type Stage = {
	readonly toUpstream?: Operator;
	readonly toClient?: Operator;
};

/** One side of a conversation. */
export type Endpoint = {
	readonly name: string;
	/**
	 * Messages from the peer, read only while the origin's valve is open. Completes when the peer
	 * disconnects; fails when it crashed.
	 */
	readonly incoming: Observable<Envelope>;
	/** Messages for the peer. Shuts the valve of a message's origin while the peer accepts no more. */
	readonly outgoing: Observer<Envelope>;
	/** Resolves when the peer can no longer send or no longer receive. */
	readonly disconnected: Promise<void>;
	/**
	 * Closes the connection. Resolves with the HTTP status of the reply, if closing sends an HTTP request.
	 */
	close(): Promise<unknown>;
	/** Whether the request with this id is still queued here and was not sent to the peer. */
	hasQueued?(id: string): boolean;
};

/**
 * Connects a client and an upstream through stages, listed from the client's end. `onBug` is called for an
 * unexpected error, which ends the conversation.
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
	const toEndpoint = ({outgoing}: Endpoint): Observer<Envelope> => ({
		next: envelope => outgoing.next(envelope),
		error(error) {
			if (!(error instanceof BridgeError)) onBug(error);
			outgoing.error(error);
		},
		complete: () => outgoing.complete(),
	});
	subscription.add(subscribeDirectly(pipeThrough(upstream.incoming, toClient), toEndpoint(client)));
	subscription.add(subscribeDirectly(pipeThrough(client.incoming, toUpstream), toEndpoint(upstream)));
	return subscription;
}

/** Applies operators in order. A missing operator changes nothing. */
export const pipeThrough = (
	source: Observable<Envelope>,
	operators: ReadonlyArray<Operator | undefined>,
): Observable<Envelope> => operators.reduce((stream, operator) => operator?.(stream) ?? stream, source);

/** Returns an endpoint with stages in front of it, listed from the client's end. */
export function behind(stages: readonly Stage[], upstream: Endpoint): Endpoint {
	const outgoing = new Channel();
	pipeThrough(
		outgoing,
		stages.map(stage => stage.toUpstream),
	).subscribe(upstream.outgoing);
	const toClient = stages.map(stage => stage.toClient).reverse();
	return {...upstream, outgoing, incoming: pipeThrough(upstream.incoming, toClient)};
}

export type Emit = (envelope: Envelope) => void;

/**
 * Processes one message. Returns the message, changed or not, or undefined to drop it. `reply` sends a
 * message back to the sender.
 */
export type StageStep = (envelope: Envelope, reply: Emit) => Envelope | undefined;

export type StageSteps = {
	readonly toUpstream?: StageStep;
	readonly toClient?: StageStep;
	/** Called when the upstream disconnected, with its error if it crashed. */
	readonly upstreamClosed?: (error: unknown) => void;
	/** Whether the client stays connected without an upstream. This stage then responds instead. */
	readonly outlivesUpstream?: boolean;
	/**
	 * Called when the client sends no more messages. The stage must flush its queued messages and then call
	 * `done`.
	 */
	readonly clientEnded?: (done: () => void) => void;
	/** Called when the conversation ends, to stop timers. */
	readonly teardown?: () => void;
};

/** Emits messages that a stage creates itself. They pass only the stages after this one. */
export type StageOutputs = {
	readonly toUpstream: Emit;
	readonly toClient: Emit;
};

/** Builds a stage from one function per direction. */
export const perMessage = (steps: StageSteps): Stage => stage(() => steps);

/**
 * Builds a stage that can also emit messages of its own.
 *
 * A step that throws a BridgeError fails only its own message: the sender of a request gets an error
 * response, and the stream continues. Any other error is a bug and ends the conversation.
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
			if (isPassive) return source.subscribe(subscriber);
			return subscribeDirectly(source, stepObserver(subscriber, step, reply, handlers));
		});
}

/** Runs a step for each message. An error that is not a bug fails only its message. */
const stepObserver = (
	next: Subscriber<Envelope>,
	step: StageStep | undefined,
	reply: Emit,
	{closed, ended, staysOpen}: EndHandlers,
): Observer<Envelope> => ({
	next(envelope) {
		try {
			const result = step ? step(envelope, reply) : envelope;
			if (result) next.next(result);
		} catch (error) {
			if (error instanceof BridgeError) replyWithError(envelope, error, reply);
			else next.error(error);
		}
	},
	error(error) {
		closed?.(error);
		if (!staysOpen) next.error(error);
	},
	complete() {
		closed?.(undefined);
		if (staysOpen) return;
		if (ended) ended(() => next.complete());
		else next.complete();
	},
});

function replyWithError({head: {id, method}, origin}: Envelope, error: BridgeError, reply: Emit): void {
	if (id !== undefined && method !== undefined) reply(Envelope.errorResponse(id, error, origin));
}
