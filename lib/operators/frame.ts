import {Observable, type OperatorFunction} from 'rxjs';
import {Envelope, type MessageOrigin} from '../core/envelope.js';
import {subscribeDirectly} from '../core/fast/subscriber.js';
import {detectFraming, type Framing} from '../wire/framing.js';
import {lineSplitter, type SplitterSink} from '../wire/line-splitter.js';
import {describeOversized} from '../wire/oversized.js';

/** The default limit on the size of a message, in bytes. */
export const MESSAGE_LIMIT = 64 * 2 ** 20;

export type FrameOptions = {
	readonly maxBytes?: number;
	/** Called once with the detected framing. Without this callback, the framing is lines. */
	readonly onFraming?: (framing: Framing) => void;
};

/** Splits bytes into messages. A message over the limit is not buffered, but emitted with a flaw. */
export function frame(
	origin: MessageOrigin,
	{maxBytes = MESSAGE_LIMIT, onFraming}: FrameOptions = {},
): OperatorFunction<Buffer, Envelope> {
	return source =>
		new Observable(subscriber => {
			const handlers: SplitterSink = {
				message: line => subscriber.next(Envelope.received(line, origin)),
				parts: line => subscriber.next(Envelope.receivedInParts(line, origin)),
				tooLarge: (start, end) =>
					subscriber.next(Envelope.tooLarge(start, describeOversized(start, end), origin)),
			};
			const splitter = onFraming
				? detectFraming(maxBytes, handlers, onFraming)
				: lineSplitter(maxBytes, handlers);
			return subscribeDirectly(source, {
				next: chunk => splitter.push(chunk),
				error(error) {
					splitter.end();
					subscriber.error(error);
				},
				complete() {
					splitter.end();
					subscriber.complete();
				},
			});
		});
}
