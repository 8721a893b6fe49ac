import type {Observable, Observer} from 'rxjs';
import {Channel} from '../../core/channel.js';
import {bridgeOrigin, Envelope, type MessageOrigin} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {type Log, logBug} from '../../core/log.js';
import type {Endpoint} from '../../core/stage.js';
import {Valve} from '../../core/valve.js';
import {warnRateLimited} from '../../core/warn-rate-limited.js';
import {type JsonObject, toText} from '../../util/json.js';
import {SendBuffer} from './send-buffer.js';

export type SharedClientOptions = {
	/** The upstream's name, which is also the name of the client's endpoint. */
	readonly upstream: string;
	/** The client's name in messages. */
	readonly label: string;
	readonly log: Log;
	readonly onMessage: (client: SharedClient, envelope: Envelope) => void;
	readonly hasPending: (client: SharedClient) => boolean;
	readonly onLeft: (client: SharedClient) => void;
	/** Called when a restarted upstream speaks another version, with its new initialize result. */
	readonly onReinitialized: ((result: JsonObject, durationMs: number) => void) | undefined;
	readonly maxBytes: number;
	readonly graceMs: number;
};

/** One client of a shared upstream. To the client, it looks like a dedicated upstream. */
export class SharedClient implements Endpoint {
	readonly name: string;
	readonly label: string;
	readonly incoming: Observable<Envelope>;
	readonly outgoing: Observer<Envelope>;
	readonly disconnected: Promise<void>;
	/** The origin of all messages to this client. Its valve affects no other client. */
	readonly origin: MessageOrigin;
	/** The `clientInfo` and the capabilities from the client's initialize. */
	info: JsonObject = {name: 'unknown', version: '0'};
	capabilities: JsonObject = {};
	hasInitializeResult = false;
	/** Whether the client has sent `notifications/initialized`. Before that, it receives only responses. */
	isInitialized = false;
	readonly #options: SharedClientOptions;
	readonly #incoming = new Channel();
	readonly #sendBuffer: SendBuffer;
	#resolveDisconnected: () => void = () => {};
	/** The origin of the client's own messages. */
	#clientOrigin: MessageOrigin | undefined;
	#isEnded = false;
	#isInputEnded = false;

	constructor(options: SharedClientOptions) {
		const {upstream, label, maxBytes, graceMs} = options;
		this.#options = options;
		this.name = upstream;
		this.label = label;
		this.origin = {name: upstream, valve: new Valve()};
		this.incoming = this.#incoming;
		this.disconnected = new Promise(resolve => {
			this.#resolveDisconnected = resolve;
		});
		this.outgoing = {
			next: envelope => this.#forward(envelope),
			error: () => this.end(),
			complete: () => this.#endWhenDone(),
		};
		this.#sendBuffer = new SendBuffer({
			valve: this.origin.valve,
			deliver: envelope => this.#deliver(envelope),
			shutSender: () => this.#clientOrigin?.valve.shut() ?? (() => {}),
			onStalled: bytes => this.#onStalled(bytes),
			maxBytes,
			graceMs,
		});
	}

	get isEnded(): boolean {
		return this.#isEnded;
	}

	/** Sends a message to the client. Its origin has to be `this.origin`. */
	send(envelope: Envelope): void {
		this.#sendBuffer.add(envelope);
		if (this.#isInputEnded) this.#endWhenDone();
	}

	/** Reports the new version. A client whose messages cannot be translated is disconnected. */
	reinitialize(result: JsonObject, durationMs: number): void {
		const {onReinitialized, upstream} = this.#options;
		if (onReinitialized) onReinitialized(result, durationMs);
		else
			this.end(
				new BridgeError(
					'ERR_SESSION_CLOSED',
					`${upstream} was restarted and now speaks ${toText(result.protocolVersion)}.`,
					'Connect again to use that version.',
				),
			);
	}

	end(error?: BridgeError): void {
		if (this.#isEnded) return;
		this.#isEnded = true;
		this.#sendBuffer.close();
		this.#options.onLeft(this);
		if (error) this.#incoming.error(error);
		else this.#incoming.complete();
		this.#resolveDisconnected();
	}

	async close(): Promise<void> {
		this.end();
	}

	#forward(envelope: Envelope): void {
		if (this.#isEnded) return;
		if (envelope.origin !== bridgeOrigin) this.#clientOrigin = envelope.origin;
		try {
			this.#options.onMessage(this, envelope);
		} catch (error) {
			this.#reject(envelope, error);
		}
	}

	/** An exception in the client's pipeline does not affect other clients. */
	#deliver(envelope: Envelope): void {
		try {
			this.#incoming.next(envelope);
		} catch (error) {
			this.#fail(error);
		}
	}

	#fail(error: unknown): void {
		const {log, upstream} = this.#options;
		logBug(log, error);
		this.end(
			new BridgeError('ERR_SESSION_CLOSED', `The connection to ${upstream} failed.`, 'Connect again.'),
		);
	}

	/** Rejects an invalid message. A bug disconnects only this client. */
	#reject({head: {id, method}}: Envelope, error: unknown): void {
		const {log, upstream} = this.#options;
		if (!(error instanceof BridgeError)) {
			this.#fail(error);
			return;
		}
		if (id !== undefined && method !== undefined)
			this.send(Envelope.errorResponse(id, error).forwardedAs(this.origin));
		else {
			const message = `A message from ${this.label} was dropped: ${error.message}`;
			warnRateLimited(log, 'shared.dropped', message, {server: upstream}, upstream);
		}
	}

	/** The client has ended its input. It is disconnected once it has received all pending responses. */
	#endWhenDone(): void {
		this.#isInputEnded = true;
		if (this.#isEnded || this.#options.hasPending(this)) return;
		this.#sendBuffer.whenEmpty(() => this.end());
	}

	#onStalled(unreadBytes: number): void {
		const {log, upstream, graceMs, maxBytes} = this.#options;
		const message = `${this.label} does not read the messages from ${upstream} and is disconnected.`;
		log.warn('sse.slow_client', message, {client: this.label, server: upstream, unreadBytes});
		this.end(
			new BridgeError(
				'ERR_SESSION_STALLED',
				`The client did not read its messages from ${upstream} for ${graceMs / 1000} s, or left more than ${maxBytes} bytes unread.`,
				'Read faster, or request less, and connect again.',
				{unreadBytes},
			),
		);
	}
}
