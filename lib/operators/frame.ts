import {Observable, type OperatorFunction} from 'rxjs';
import {Envelope, type Origin} from '../envelope.js';
import {detectFraming, type Framing} from '../wire/framing.js';
import {type Cuts, lines} from '../wire/lines.js';
import {describeOversized} from '../wire/oversized.js';

/** The longest message that is taken, in bytes. */
export const MESSAGE_LIMIT = 64 * 2 ** 20;

export type FrameOptions = {
	readonly maxBytes?: number;
	/** Told once which framing the sender uses. Without it, lines are expected. */
	readonly onFraming?: (framing: Framing) => void;
};

/** Bytes of one sender into its messages. A message over the limit is skipped unheld and goes on as a flawed one. */
export function frame(
	origin: Origin,
	{maxBytes = MESSAGE_LIMIT, onFraming}: FrameOptions = {},
): OperatorFunction<Buffer, Envelope> {
	return source =>
		new Observable(subscriber => {
			const cuts: Cuts = {
				message: line => subscriber.next(Envelope.received(line, origin)),
				tooLarge: (start, end) =>
					subscriber.next(Envelope.tooLarge(start, describeOversized(start, end), origin)),
			};
			const cutter = onFraming ? detectFraming(maxBytes, cuts, onFraming) : lines(maxBytes, cuts);
			return source.subscribe({
				next: chunk => cutter.push(chunk),
				error: error => {
					cutter.end();
					subscriber.error(error);
				},
				complete: () => {
					cutter.end();
					subscriber.complete();
				},
			});
		});
}
