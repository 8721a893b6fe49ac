import {Observable, type OperatorFunction, Subscriber} from 'rxjs';
import {Envelope, type MessageOrigin} from '../core/envelope.js';
import {detectFraming, type Framing} from '../wire/framing.js';
import {lineSplitter, type MessageSplitter, type SplitterSink} from '../wire/line-splitter.js';
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
			return source.subscribe(new FrameSubscriber(subscriber, splitter));
		});
}

/** Splits chunks. A Subscriber subclass, because an observer would cost more calls per chunk. */
class FrameSubscriber extends Subscriber<Buffer> {
	readonly #next: Subscriber<Envelope>;
	readonly #splitter: MessageSplitter;

	constructor(next: Subscriber<Envelope>, splitter: MessageSplitter) {
		super(next);
		this.#next = next;
		this.#splitter = splitter;
	}

	override next(chunk: Buffer): void {
		if (!this.isStopped) this.#splitter.push(chunk);
	}

	protected override _error(error: unknown): void {
		this.#splitter.end();
		this.#next.error(error);
	}

	protected override _complete(): void {
		this.#splitter.end();
		this.#next.complete();
	}
}
