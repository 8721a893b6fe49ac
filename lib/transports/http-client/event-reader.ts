import {Envelope, type MessageOrigin} from '../../core/envelope.js';
import {SseParser} from '../../wire/sse.js';
import {BodyBackpressure} from './body-backpressure.js';
import type {BodyController, BodyHandler} from './http-request.js';
import {receivedEnvelopes} from './received-envelopes.js';

type EventReaderOptions = {
	readonly origin: MessageOrigin;
	readonly maxBytes: number;
	/** The id that the stream was resumed from. */
	readonly lastEventId?: string | undefined;
	readonly onMessage: (envelope: Envelope) => void;
	readonly onEnd: () => void;
};

/** The delay before a stream is resumed, if the upstream does not send a `retry` field. */
const RETRY_MS = 1000;

/** Reads messages from an SSE stream, with backpressure from the valve of the origin. */
export class EventReader implements BodyHandler {
	/** The latest event id; undefined if the stream cannot be resumed. */
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
