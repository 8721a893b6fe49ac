import type {Observable, Observer} from 'rxjs';
import {Channel} from '../../channel.js';
import {Envelope, local, type Origin} from '../../envelope.js';
import {BridgeError} from '../../errors.js';
import {type Log, logBug} from '../../log.js';
import {type JsonObject, worded} from '../../protocol/json.js';
import type {Endpoint} from '../../stage.js';
import {Valve} from '../../valve.js';
import {warnLimited} from '../../warn-limited.js';
import {Outbox} from './outbox.js';

export type SharedClientOptions = {
	/** The server's name: to its client, this is the server. */
	readonly server: string;
	/** The client's name, for people. */
	readonly label: string;
	readonly log: Log;
	readonly say: (client: SharedClient, envelope: Envelope) => void;
	/** Whether it still waits for an answer. */
	readonly isWaiting: (client: SharedClient) => boolean;
	readonly left: (client: SharedClient) => void;
	/** The server speaks another version than it was told, and this is what it says of itself. */
	readonly onRenewed: ((result: JsonObject, durationMs: number) => void) | undefined;
	readonly maxBytes: number;
	readonly graceMs: number;
};

/** One of the clients of a shared server, which looks to it like a server of its own. */
export class SharedClient implements Endpoint {
	readonly name: string;
	readonly label: string;
	readonly incoming: Observable<Envelope>;
	readonly outgoing: Observer<Envelope>;
	readonly gone: Promise<void>;
	/** Of all that it hears: its own, so that its slowness is nobody else's. */
	readonly origin: Origin;
	/** What it has said of itself, and that it can do. */
	info: JsonObject = {name: 'unknown', version: '0'};
	capabilities: JsonObject = {};
	/** Whether it has been told who the server is. */
	isGreeted = false;
	/** Whether it has said so. Before, it hears nothing but answers. */
	isInitialized = false;
	readonly #options: SharedClientOptions;
	readonly #heard = new Channel();
	readonly #outbox: Outbox;
	#resolveGone: () => void = () => {};
	/** Where what it says comes from. */
	#sender: Origin | undefined;
	#isGone = false;
	#isDone = false;

	constructor(options: SharedClientOptions) {
		const {server, label, maxBytes, graceMs} = options;
		this.#options = options;
		this.name = server;
		this.label = label;
		this.origin = {name: server, valve: new Valve()};
		this.incoming = this.#heard;
		this.gone = new Promise(resolve => {
			this.#resolveGone = resolve;
		});
		this.outgoing = {
			next: envelope => this.#say(envelope),
			error: () => this.end(),
			complete: () => this.#finish(),
		};
		this.#outbox = new Outbox({
			valve: this.origin.valve,
			deliver: envelope => this.#deliver(envelope),
			hold: () => this.#sender?.valve.shut() ?? (() => {}),
			stalled: bytes => this.#stalled(bytes),
			maxBytes,
			graceMs,
		});
	}

	get isGone(): boolean {
		return this.#isGone;
	}

	/** Says something to it, which has to be of its own origin. */
	hear(envelope: Envelope): void {
		this.#outbox.add(envelope);
		if (this.#isDone) this.#finish();
	}

	/** The server speaks another version now. Whose messages cannot be made for that has to begin anew. */
	renew(result: JsonObject, durationMs: number): void {
		const {onRenewed, server} = this.#options;
		if (onRenewed) onRenewed(result, durationMs);
		else
			this.end(
				new BridgeError(
					'ERR_SESSION_CLOSED',
					`${server} was started again and now speaks ${worded(result.protocolVersion)}.`,
					'Connect again to speak that with it.',
				),
			);
	}

	/** Ends it, by an error if one is given. */
	end(error?: BridgeError): void {
		if (this.#isGone) return;
		this.#isGone = true;
		this.#outbox.close();
		this.#options.left(this);
		if (error) this.#heard.error(error);
		else this.#heard.complete();
		this.#resolveGone();
	}

	async close(): Promise<void> {
		this.end();
	}

	#say(envelope: Envelope): void {
		if (this.#isGone) return;
		if (envelope.origin !== local) this.#sender = envelope.origin;
		try {
			this.#options.say(this, envelope);
		} catch (error) {
			this.#refuse(envelope, error);
		}
	}

	/** Whatever goes wrong behind this is nothing to the other clients. */
	#deliver(envelope: Envelope): void {
		try {
			this.#heard.next(envelope);
		} catch (error) {
			this.#failed(error);
		}
	}

	#failed(error: unknown): void {
		const {log, server} = this.#options;
		logBug(log, error);
		this.end(new BridgeError('ERR_SESSION_CLOSED', `The connection to ${server} failed.`, 'Connect again.'));
	}

	/** What is wrong with one message is nothing to others; what is a bug ends this client alone. */
	#refuse({head: {id, method}}: Envelope, error: unknown): void {
		const {log, server} = this.#options;
		if (!(error instanceof BridgeError)) {
			this.#failed(error);
			return;
		}
		if (id !== undefined && method !== undefined) this.hear(Envelope.failure(id, error).relayed(this.origin));
		else {
			const sentence = `A message of ${this.label} was dropped: ${error.message}`;
			warnLimited(log, 'shared.dropped', sentence, {server}, server);
		}
	}

	/** It says no more, and leaves when it has heard all that it waits for. */
	#finish(): void {
		this.#isDone = true;
		if (this.#isGone || this.#options.isWaiting(this)) return;
		this.#outbox.whenEmpty(() => this.end());
	}

	#stalled(unreadBytes: number): void {
		const {log, server, graceMs, maxBytes} = this.#options;
		const sentence = `${this.label} does not read what ${server} has for it, and is disconnected.`;
		log.warn('sse.slow_client', sentence, {client: this.label, server, unreadBytes});
		this.end(
			new BridgeError(
				'ERR_SESSION_STALLED',
				`The client did not read what ${server} had for it, for ${graceMs / 1000} s or ${maxBytes} bytes.`,
				'Read faster, or ask for less, and connect again.',
				{unreadBytes},
			),
		);
	}
}
