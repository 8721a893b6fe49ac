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
	/** The path for POSTs, to which `sessionId` is added as a query parameter. */
	readonly path: string;
	readonly log: Log;
	/** The id of the session [a random UUID]. */
	readonly id?: string;
	readonly keepAliveMs?: number;
	readonly maxUnreadBytes?: number;
};

/** How long a client may take to read the end of the stream. */
const CLOSE_TIMEOUT_MS = 1000;

/**
 * The session of a client that uses HTTP+SSE (2024-11-05). The client receives messages as events of one GET
 * response and sends its own by POST.
 *
 * The HTTP server passes in the GET response and the body of each POST, and responds to a POST with 202.
 */
export class SseSession implements Endpoint {
	readonly id: string;
	readonly name: string;
	readonly incoming: Observable<Envelope>;
	readonly outgoing: Observer<Envelope>;
	readonly disconnected: Promise<void>;
	/** Shut under backpressure. The HTTP server must not read POSTs of this session then. */
	readonly valve = new Valve();
	readonly #log: Log;
	readonly #stream: SseStream;
	readonly #incomingBuffer = new IncomingBuffer();

	/** `response` is that of the GET. Its headers must not be sent yet. */
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

	receive(body: Buffer, headers: Headers): void {
		const origin: MessageOrigin = {name: this.name, valve: this.valve, headers};
		this.#incomingBuffer.next(envelopeFromMessage(body, origin));
	}

	async close(): Promise<void> {
		this.#stream.end();
		// A client that does not read must not delay the close.
		await Promise.race([this.disconnected, pause(CLOSE_TIMEOUT_MS)]);
		this.#stream.destroy();
		await this.disconnected;
	}

	#send({bytes, origin}: Envelope): void {
		if (this.#stream.send({event: 'message', data: bytes}, origin.valve)) return;
		this.#log.warn('sse.client_gone', `${this.name} is disconnected; a message for it was dropped.`);
	}

	#logSlowClient(unreadBytes: number): void {
		const text = `${this.name} does not read its stream; it was disconnected.`;
		this.#log.warn('sse.slow_client', text, {unreadBytes});
	}
}
