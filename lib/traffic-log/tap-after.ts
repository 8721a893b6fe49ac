import {Observable} from 'rxjs';
import type {Envelope} from '../core/envelope.js';
import {subscribeDirectly} from '../core/fast/subscriber.js';
import type {Operator} from '../core/stage.js';

/**
 * Calls `onDelivered` for each message after downstream has processed it. `onEnd` is called before downstream
 * completes or fails.
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
