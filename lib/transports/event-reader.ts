import {Envelope, type Origin} from '../envelope.js';
import {SseParser} from '../wire/sse.js';
import type {Flow, Reader} from './http-exchange.js';
import {received} from './received.js';
import {ValveFlow} from './valve-flow.js';

export type EventReaderOptions = {
	readonly origin: Origin;
	readonly maxBytes: number;
	/** Where the stream was taken up again. */
	readonly lastEventId?: string | undefined;
	readonly hear: (envelope: Envelope) => void;
	readonly onEnd: () => void;
};

/** How long to wait before a stream is taken up again, where the server does not say. */
const RETRY_MS = 1000;

/** Reads messages from a stream of events, which is left unread while whoever gets them takes no more. */
export class EventReader implements Reader {
	/** Where the stream may be taken up again, if it can be at all. */
	lastEventId: string | undefined;
	retryMs = RETRY_MS;
	readonly onEnd: () => void;
	readonly #parser: SseParser;
	readonly #flow: ValveFlow;

	constructor({origin, maxBytes, lastEventId, hear, onEnd}: EventReaderOptions) {
		this.lastEventId = lastEventId;
		this.#flow = new ValveFlow(origin.valve);
		this.onEnd = onEnd;
		this.#parser = new SseParser(maxBytes, {
			event: ({id, retryMs, line, event}) => {
				if (id !== undefined) this.lastEventId = id;
				if (retryMs !== undefined) this.retryMs = retryMs;
				const isMessage = line.length > 1 && (event === undefined || event === 'message');
				if (isMessage) for (const envelope of received(line, origin)) hear(envelope);
			},
			tooLarge: (start, oversized, {id}) => {
				if (id !== undefined) this.lastEventId = id;
				hear(Envelope.tooLarge(start, oversized, origin));
			},
		});
	}

	readonly onData = (chunk: Buffer, flow: Flow): void => {
		this.#parser.push(chunk);
		this.#flow.check(flow);
	};
}
