import type {IncomingMessage} from 'node:http';
import type {Duplex} from 'node:stream';
import {type WebSocket, WebSocketServer} from 'ws';
import {Envelope, type Headers, type Origin} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {HeldMessages} from '../held-messages.js';
import {noteUnread} from '../http/unread.js';
import type {Log} from '../log.js';
import {MESSAGE_LIMIT} from '../operators/frame.js';
import {pause} from '../pause.js';
import {printable, shortened} from '../printable.js';
import type {Endpoint} from '../stage.js';
import {Valve} from '../valve.js';
import {ControlFrames} from './control-frames.js';
import {reasonOf} from './failure-reason.js';
import {Inbox} from './inbox.js';
import {ShutValves} from './shut-valves.js';
import {wholeMessage} from './whole-message.js';

export type WsEndpointOptions = {
	readonly name: string;
	/** Told in errors. The socket itself has to be made with this limit. */
	readonly maxBytes?: number;
	/** What the peer came with. */
	readonly headers?: Headers;
	/** Whether it is a failure when the peer is gone: of a server, somebody may wait for an answer. */
	readonly isUpstream?: boolean;
	/** How often the peer is asked whether it is alive. */
	readonly pingMs?: number;
	readonly log?: Log;
	/** The connection that a server has accepted. */
	readonly carrier?: Duplex;
};

/** The name of MCP among the protocols that a WebSocket may carry. */
export const SUBPROTOCOL = 'mcp';
/** So much may wait to be written before whoever sends it is stopped. */
const MAX_UNWRITTEN = 2 ** 20;
const PING_MS = 30_000;
/** A peer that has left so many questions unanswered is dead. */
const MAX_MISSED = 2;
/** How long the peer has to agree to the end. */
const GOODBYE_MS = 1000;
const TEXT = {binary: false, compress: false} as const;

/** What every socket is made with. Text is judged with the message that it is: what is no UTF-8 ends no conversation. */
export const socketOptions = (maxBytes: number) => ({
	perMessageDeflate: false,
	maxPayload: maxBytes,
	skipUTF8Validation: true,
	// See ControlFrames.
	autoPong: false,
});

/** Answers a request to change to WebSocket. Resolves with nothing if it was a bad one, which has been answered then. */
export function acceptWebSocket(
	request: IncomingMessage,
	socket: Duplex,
	head: Buffer,
	maxBytes = MESSAGE_LIMIT,
): Promise<WebSocket | undefined> {
	const server = new WebSocketServer({
		...socketOptions(maxBytes),
		noServer: true,
		clientTracking: false,
		handleProtocols: offered => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
	});
	return new Promise(resolve => {
		socket.once('close', () => resolve(undefined));
		server.handleUpgrade(request, socket, head, accepted => {
			// What the peer says is read as soon as there is an endpoint to hear it.
			accepted.pause();
			resolve(accepted);
		});
	});
}

/** A peer behind a WebSocket, whichever side has opened it: one message a text frame. */
export function wsEndpoint(socket: WebSocket, options: WsEndpointOptions): WsPeer {
	return new WsPeer(socket, options);
}

/** The endpoint that a WebSocket is. */
export class WsPeer implements Endpoint {
	readonly name: string;
	readonly incoming: Endpoint['incoming'];
	readonly outgoing: Endpoint['outgoing'];
	readonly gone: Promise<void>;
	readonly #socket: WebSocket;
	readonly #options: WsEndpointOptions;
	readonly #origin: Origin;
	readonly #inbox = new Inbox();
	/** What was said before the connection was there. */
	readonly #held = new HeldMessages();
	readonly #shut = new ShutValves();
	readonly #pings: NodeJS.Timeout;
	readonly #frames: ControlFrames;
	#missed = 0;
	#isPaused = false;

	constructor(socket: WebSocket, options: WsEndpointOptions) {
		const {name, headers, isUpstream = false, pingMs = PING_MS} = options;
		this.#socket = socket;
		this.#options = options;
		this.#origin = {name, valve: new Valve(), ...(headers ? {headers} : {})};
		this.name = name;
		this.incoming = this.#inbox.messages;
		this.outgoing = {
			next: envelope => this.say(envelope),
			error: () => socket.close(1011),
			// An upstream that hears no more still has to answer.
			complete: () => (isUpstream ? undefined : socket.close(1000)),
		};
		this.#pings = setInterval(() => this.#ping(), pingMs).unref();
		this.gone = new Promise(resolve => {
			if (socket.readyState === socket.CLOSED) resolve();
			socket.once('close', () => resolve());
		});
		void this.gone.then(() => this.fail(this.#closed(1006, '')));
		this.#frames = new ControlFrames(socket, reason => this.#flooded(reason));
		this.#listen();
		socket.resume();
	}

	say(envelope: Envelope): void {
		const {readyState, CONNECTING, OPEN} = this.#socket;
		if (readyState === CONNECTING) this.#held.add(envelope);
		else if (readyState === OPEN) this.#send(envelope);
	}

	/** Answers with a message that the peer has not sent. */
	hear(envelope: Envelope): void {
		this.#inbox.next(envelope);
	}

	/** What waits for the connection, which is not to come. */
	takeHeld(): Envelope[] {
		return this.#held.takeAll();
	}

	/** Ends what is heard, unless that has ended already. */
	fail(error: BridgeError | undefined): void {
		clearInterval(this.#pings);
		this.#shut.release();
		this.#held.takeAll();
		this.#inbox.end(error);
	}

	async close(): Promise<void> {
		this.fail(undefined);
		const socket = this.#socket;
		// The other side's agreement has to be read.
		socket.resume();
		if (socket.readyState !== socket.CONNECTING) {
			socket.close(1000);
			await Promise.race([this.gone, pause(GOODBYE_MS)]);
		}
		socket.terminate();
		await this.gone;
	}

	#listen(): void {
		this.#socket
			.on('open', () => {
				for (const envelope of this.#held.takeAll()) this.say(envelope);
			})
			.on('message', (data: Buffer, isBinary) => this.#heard(data, isBinary))
			.on('pong', () => {
				this.#missed = 0;
			})
			.on('error', error => this.fail(this.#broken(error)))
			.on('close', (code, reason) => this.fail(this.#closed(code, String(reason))));
	}

	#heard(data: Buffer, isBinary: boolean): void {
		this.#missed = 0;
		if (data.length === 0 && !this.#frames.count()) return;
		this.#inbox.next(isBinary ? Envelope.notText(data, this.#origin) : wholeMessage(data, this.#origin));
		const {valve} = this.#origin;
		if (valve.isOpen || this.#isPaused) return;
		this.#isPaused = true;
		this.#socket.pause();
		valve.whenOpen(() => {
			this.#isPaused = false;
			this.#socket.resume();
		});
	}

	#send({bytes, origin}: Envelope): void {
		const socket = this.#socket;
		if (socket.bufferedAmount + bytes.length <= MAX_UNWRITTEN) {
			socket.send(bytes, TEXT);
			if (socket.bufferedAmount > 0) noteUnread(this.#options.carrier);
			return;
		}
		this.#shut.shut(origin.valve);
		socket.send(bytes, TEXT, () => {
			if (socket.bufferedAmount <= MAX_UNWRITTEN) this.#shut.release();
		});
		noteUnread(this.#options.carrier);
	}

	/** Asks whether the peer is alive, unless it cannot be heard, or has not read what it was sent before. */
	#ping(): void {
		const socket = this.#socket;
		if (socket.readyState !== socket.OPEN) return;
		if (this.#isPaused || !this.#shut.isEmpty) this.#missed = 0;
		else if (this.#missed < MAX_MISSED) {
			this.#missed++;
			socket.ping();
		} else {
			this.fail(this.#lost(`it did not answer ${MAX_MISSED} pings`));
			socket.terminate();
		}
	}

	#flooded(reason: string): void {
		this.#options.log?.warn('ws.flood', `${this.name} was disconnected: it sent ${reason}.`);
		this.fail(this.#lost(`it sent ${reason}`));
	}

	#broken(error: NodeJS.ErrnoException): BridgeError | undefined {
		const {name, maxBytes = MESSAGE_LIMIT} = this.#options;
		if (error.code !== 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return this.#lost(reasonOf(error));
		return new BridgeError(
			'ERR_MESSAGE_TOO_LARGE',
			`${name} sent a message of more than ${maxBytes} bytes (limits.message), which ended the connection.`,
			'Send it in smaller parts, or raise that limit.',
			{limit: maxBytes},
		);
	}

	#closed(code: number, reason: string): BridgeError | undefined {
		const why = reason === '' ? '' : `: ${printable(shortened(reason))}`;
		return this.#lost(`the connection was closed with code ${code}${why}`);
	}

	/** Why an upstream is gone. That a client is needs no reason. */
	#lost(reason: string): BridgeError | undefined {
		if (!this.#options.isUpstream) return;
		return new BridgeError(
			'ERR_UPSTREAM_UNREACHABLE',
			`The connection to ${this.name} is lost: ${reason}.`,
			'Connect again; if that fails, check the address, and that the server runs.',
		);
	}
}
