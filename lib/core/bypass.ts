import {Observable} from 'rxjs';
import {Channel} from './channel.js';
import type {Envelope} from './envelope.js';
import {subscribeDirectly} from './fast/subscriber.js';
import {type Operator, pipeThrough, type Stage} from './stage.js';

/** Returns whether a message needs no processing by the stages. */
type BypassPredicate = (envelope: Envelope) => boolean;

/** Wraps stages so that messages for which `canBypass` returns true skip them. `classify` sees each message first. */
export const bypassWhen = (
	canBypass: BypassPredicate,
	stages: readonly Stage[],
	classify: (envelope: Envelope) => void = () => {},
): Stage => {
	const around = (operators: ReadonlyArray<Operator | undefined>): Operator =>
		bypassOperator(canBypass, operators, classify);
	return {
		toUpstream: around(stages.map(stage => stage.toUpstream)),
		toClient: around(stages.map(stage => stage.toClient).reverse()),
	};
};

const bypassOperator =
	(
		canBypass: BypassPredicate,
		operators: ReadonlyArray<Operator | undefined>,
		classify: (envelope: Envelope) => void,
	): Operator =>
	source =>
		new Observable(subscriber => {
			const inner = new Channel();
			subscriber.add(subscribeDirectly(pipeThrough(inner, operators), subscriber));
			return subscribeDirectly(source, {
				next(envelope) {
					classify(envelope);
					if (canBypass(envelope)) subscriber.next(envelope);
					else inner.next(envelope);
				},
				// The end always passes through the stages, since they react to it.
				error: error => inner.error(error),
				complete: () => inner.complete(),
			});
		});
