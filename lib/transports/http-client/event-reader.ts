import {Envelope, type MessageOrigin} from '../../core/envelope.js';
import {SseParser} from '../../wire/sse.js';
import {BodyBackpressure} from './body-backpressure.js';
import type {BodyController, BodyHandler} from './http-request.js';
import {receivedEnvelopes} from './received-envelopes.js';

type EventReaderOptions = {
	readonly origin: MessageOrigin;
	readonly maxBytes: number;
	/** Where the stream was taken up again. */
	readonly lastEventId?: string | undefined;
	readonly onMessage: (envelope: Envelope) => void;
	readonly onEnd: () => void;
};

/** How long to wait before a stream is taken up again, where the server does not say. */
const RETRY_MS = 1000;

/** Reads messages from a stream of events, which is left unread while whoever gets them takes no more. */
export class EventReader implements BodyHandler {
	/** Where the stream may be taken up again, if it can be at all. */
	lastEventId: string | undefined;
	retryMs = RETRY_MS;
	readonly onEnd: () => void;
	readonly #parser: SseParser;
	readonly #backpressure: BodyBackpressure;

	constructor({origin, maxBytes, lastEventId, onMessage, onEnd}: EventReaderOptions) {
		this.lastEventId = lastEventId;
		this.#backpressure = new BodyBackpressure(origin.valve);
		this.onEnd = onEnd;
		this.#parser = new SseParser(maxBytes, {
			event: ({id, retryMs, line, event}) => {
				if (id !== undefined) this.lastEventId = id;
				if (retryMs !== undefined) this.retryMs = retryMs;
				const isMessage = line.length > 1 && (event === undefined || event === 'message');
				if (isMessage) for (const envelope of receivedEnvelopes(line, origin)) onMessage(envelope);
			},
			tooLarge: (start, oversized, {id}) => {
				if (id !== undefined) this.lastEventId = id;
				onMessage(Envelope.tooLarge(start, oversized, origin));
			},
		});
	}

	readonly onData = (chunk: Buffer, controller: BodyController): void => {
		this.#parser.push(chunk);
		this.#backpressure.apply(controller);
	};
}
