import {randomUUID} from 'node:crypto';
import type {ServerResponse} from 'node:http';
import type {Observable, Observer} from 'rxjs';
import type {Envelope, Headers, MessageOrigin} from '../../core/envelope.js';
import {IncomingBuffer} from '../../core/incoming-buffer.js';
import type {Log} from '../../core/log.js';
import type {Endpoint} from '../../core/stage.js';
import {Valve} from '../../core/valve.js';
import {envelopeFromMessage} from '../../core/whole-message.js';
import {pause} from '../../util/pause.js';
import {SseStream} from './sse-stream.js';

export type SseSessionOptions = {
	readonly name: string;
	/** Where the client is to post its messages: the id of the session is added as a parameter. */
	readonly path: string;
	readonly log: Log;
	/** The id of the session. */
	readonly id?: string;
	readonly keepAliveMs?: number;
	readonly maxUnreadBytes?: number;
};

/** How long a client has to read the last that it is sent. */
const CLOSE_TIMEOUT_MS = 1000;

/**
 * A client that speaks HTTP+SSE of 2024-11-05: it hears messages as events of one long answer to a GET, and says its own
 * by POST. Whoever serves HTTP hands both in, and answers a POST with 202.
 */
export class SseSession implements Endpoint {
	readonly id: string;
	readonly name: string;
	readonly incoming: Observable<Envelope>;
	readonly outgoing: Observer<Envelope>;
	readonly disconnected: Promise<void>;
	/** Shut while no more can be taken: no POST of this session is to be read then. */
	readonly valve = new Valve();
	readonly #log: Log;
	readonly #stream: SseStream;
	readonly #incomingBuffer = new IncomingBuffer();

	/** Takes the answer to the GET, whose head is not written yet. */
	constructor(response: ServerResponse, options: SseSessionOptions) {
		const {name, path, log, id = randomUUID(), ...rest} = options;
		this.id = id;
		this.name = name;
		this.#log = log;
		this.#stream = new SseStream(response, {...rest, onSlow: bytes => this.#logSlowClient(bytes)});
		const endpoint = `${path}${path.includes('?') ? '&' : '?'}sessionId=${encodeURIComponent(id)}`;
		this.#stream.send({event: 'endpoint', data: Buffer.from(endpoint)});
		this.disconnected = this.#stream.closed;
		void this.disconnected.then(() => this.#incomingBuffer.end());
		this.incoming = this.#incomingBuffer.messages;
		this.outgoing = {
			next: envelope => this.#send(envelope),
			error: () => this.#stream.end(),
			complete: () => this.#stream.end(),
		};
	}

	/** Takes the body of a POST, with its headers. */
	receive(body: Buffer, headers: Headers): void {
		const origin: MessageOrigin = {name: this.name, valve: this.valve, headers};
		this.#incomingBuffer.next(envelopeFromMessage(body, origin));
	}

	async close(): Promise<void> {
		this.#stream.end();
		// Who does not read is not waited for any longer.
		await Promise.race([this.disconnected, pause(CLOSE_TIMEOUT_MS)]);
		this.#stream.destroy();
		await this.disconnected;
	}

	#send({bytes, origin}: Envelope): void {
		if (this.#stream.send({event: 'message', data: bytes}, origin.valve)) return;
		this.#log.warn('sse.client_gone', `${this.name} is gone; a message for it was dropped.`);
	}

	#logSlowClient(unreadBytes: number): void {
		const sentence = `${this.name} did not read what it was sent, so it was cut off.`;
		this.#log.warn('sse.slow_client', sentence, {unreadBytes});
	}
}
