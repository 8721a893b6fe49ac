import {Observable} from 'rxjs';
import type {Envelope} from '../core/envelope.js';
import {subscribeDirectly} from '../core/fast/subscriber.js';
import type {Operator} from '../core/stage.js';

/**
 * Looks at a message after it went its way, when the stages ahead have done with it what they do. `ended` is told before they
 * are that there are no more, with the error if that was why.
 */
export const tapAfter =
	(onDelivered: (envelope: Envelope) => void, onEnd: (error?: unknown) => void = () => {}): Operator =>
	source =>
		new Observable(subscriber =>
			subscribeDirectly(source, {
				next(envelope) {
					subscriber.next(envelope);
					onDelivered(envelope);
				},
				error(error) {
					onEnd(error);
					subscriber.error(error);
				},
				complete() {
					onEnd();
					subscriber.complete();
				},
			}),
		);
