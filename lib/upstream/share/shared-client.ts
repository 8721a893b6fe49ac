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
	/** The server's name: to its client, this is the server. */
	readonly upstream: string;
	/** The client's name, for people. */
	readonly label: string;
	readonly log: Log;
	readonly onMessage: (client: SharedClient, envelope: Envelope) => void;
	/** Whether it still waits for an answer. */
	readonly hasPending: (client: SharedClient) => boolean;
	readonly onLeft: (client: SharedClient) => void;
	/** The server speaks another version than it was told, and this is what it says of itself. */
	readonly onReinitialized: ((result: JsonObject, durationMs: number) => void) | undefined;
	readonly maxBytes: number;
	readonly graceMs: number;
};

/** One of the clients of a shared server, which looks to it like a server of its own. */
export class SharedClient implements Endpoint {
	readonly name: string;
	readonly label: string;
	readonly incoming: Observable<Envelope>;
	readonly outgoing: Observer<Envelope>;
	readonly disconnected: Promise<void>;
	/** Of all that it hears: its own, so that its slowness is nobody else's. */
	readonly origin: MessageOrigin;
	/** What it has said of itself, and that it can do. */
	info: JsonObject = {name: 'unknown', version: '0'};
	capabilities: JsonObject = {};
	/** Whether it has been told who the server is. */
	hasInitializeResult = false;
	/** Whether it has said so. Before, it hears nothing but answers. */
	isInitialized = false;
	readonly #options: SharedClientOptions;
	readonly #incoming = new Channel();
	readonly #sendBuffer: SendBuffer;
	#resolveGone: () => void = () => {};
	/** Where what it says comes from. */
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
			this.#resolveGone = resolve;
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

	/** Says something to it, which has to be of its own origin. */
	send(envelope: Envelope): void {
		this.#sendBuffer.add(envelope);
		if (this.#isInputEnded) this.#endWhenDone();
	}

	/** The server speaks another version now. Whose messages cannot be made for that has to begin anew. */
	reinitialize(result: JsonObject, durationMs: number): void {
		const {onReinitialized, upstream} = this.#options;
		if (onReinitialized) onReinitialized(result, durationMs);
		else
			this.end(
				new BridgeError(
					'ERR_SESSION_CLOSED',
					`${upstream} was started again and now speaks ${toText(result.protocolVersion)}.`,
					'Connect again to speak that with it.',
				),
			);
	}

	/** Ends it, by an error if one is given. */
	end(error?: BridgeError): void {
		if (this.#isEnded) return;
		this.#isEnded = true;
		this.#sendBuffer.close();
		this.#options.onLeft(this);
		if (error) this.#incoming.error(error);
		else this.#incoming.complete();
		this.#resolveGone();
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

	/** Whatever goes wrong behind this is nothing to the other clients. */
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

	/** What is wrong with one message is nothing to others; what is a bug ends this client alone. */
	#reject({head: {id, method}}: Envelope, error: unknown): void {
		const {log, upstream} = this.#options;
		if (!(error instanceof BridgeError)) {
			this.#fail(error);
			return;
		}
		if (id !== undefined && method !== undefined)
			this.send(Envelope.errorResponse(id, error).forwardedAs(this.origin));
		else {
			const sentence = `A message of ${this.label} was dropped: ${error.message}`;
			warnRateLimited(log, 'shared.dropped', sentence, {server: upstream}, upstream);
		}
	}

	/** It says no more, and leaves when it has heard all that it waits for. */
	#endWhenDone(): void {
		this.#isInputEnded = true;
		if (this.#isEnded || this.#options.hasPending(this)) return;
		this.#sendBuffer.whenEmpty(() => this.end());
	}

	#onStalled(unreadBytes: number): void {
		const {log, upstream, graceMs, maxBytes} = this.#options;
		const sentence = `${this.label} does not read what ${upstream} has for it, and is disconnected.`;
		log.warn('sse.slow_client', sentence, {client: this.label, server: upstream, unreadBytes});
		this.end(
			new BridgeError(
				'ERR_SESSION_STALLED',
				`The client did not read what ${upstream} had for it, for ${graceMs / 1000} s or ${maxBytes} bytes.`,
				'Read faster, or ask for less, and connect again.',
				{unreadBytes},
			),
		);
	}
}
