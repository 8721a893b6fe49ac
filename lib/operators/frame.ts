import {Observable, type OperatorFunction, Subscriber} from 'rxjs';
import {Envelope, type MessageOrigin} from '../core/envelope.js';
import {detectFraming, type Framing} from '../wire/framing.js';
import {lineSplitter, type MessageSplitter, type SplitterSink} from '../wire/line-splitter.js';
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
			const cutter = onFraming
				? detectFraming(maxBytes, handlers, onFraming)
				: lineSplitter(maxBytes, handlers);
			return source.subscribe(new FrameSubscriber(subscriber, cutter));
		});
}

/** Cuts chunks. A class of RxJS's own kind, for the same reason as a stage's step. */
class FrameSubscriber extends Subscriber<Buffer> {
	readonly #next: Subscriber<Envelope>;
	readonly #cutter: MessageSplitter;

	constructor(next: Subscriber<Envelope>, cutter: MessageSplitter) {
		super(next);
		this.#next = next;
		this.#cutter = cutter;
	}

	override next(chunk: Buffer): void {
		if (!this.isStopped) this.#cutter.push(chunk);
	}

	protected override _error(error: unknown): void {
		this.#cutter.end();
		this.#next.error(error);
	}

	protected override _complete(): void {
		this.#cutter.end();
		this.#next.complete();
	}
}
