import type {IncomingMessage} from 'node:http';
import type {Duplex} from 'node:stream';
import {type WebSocket, WebSocketServer} from 'ws';
import {Envelope, type Headers, type MessageOrigin} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {IncomingBuffer} from '../../core/incoming-buffer.js';
import type {Log} from '../../core/log.js';
import {networkErrorReason} from '../../core/network-error-reason.js';
import {QueuedMessages} from '../../core/requests/queued.js';
import {ShutValves} from '../../core/shut-valves.js';
import type {Endpoint} from '../../core/stage.js';
import {Valve} from '../../core/valve.js';
import {envelopeFromMessage} from '../../core/whole-message.js';
import {trackUnread} from '../../http/unread-responses.js';
import {MESSAGE_LIMIT} from '../../operators/frame.js';
import {pause} from '../../util/pause.js';
import {printable, shortened} from '../../util/printable.js';
import {ControlFrames} from './control-frames.js';

export type WebSocketEndpointOptions = {
	readonly name: string;
	/** The message limit for error texts. The socket must be created with the same limit. */
	readonly maxBytes?: number;
	/** Headers of the handshake request of a client. */
	readonly headers?: Headers;
	/** Whether a disconnect is an error: requests to an upstream may be pending. */
	readonly isUpstream?: boolean;
	readonly pingMs?: number;
	readonly log?: Log;
	/** The TCP socket, if this side accepted the connection. */
	readonly tcpSocket?: Duplex;
};

export const SUBPROTOCOL = 'mcp';
/** Unwritten bytes beyond which backpressure is applied to the sender. */
const MAX_BUFFERED_BYTES = 2 ** 20;
const PING_MS = 30_000;
/** A peer that has missed this many pongs in a row is considered dead. */
const MAX_MISSED_PONGS = 2;
/** How long the peer may take to reply with its own close frame. */
const CLOSE_TIMEOUT_MS = 1000;
const TEXT_FRAME = {binary: false, compress: false} as const;

/** Options of all sockets. The parser validates UTF-8, so invalid text does not close the connection. */
export const socketOptions = (maxBytes: number) => ({
	perMessageDeflate: false,
	maxPayload: maxBytes,
	skipUTF8Validation: true,
	// See ControlFrames.
	autoPong: false,
});

/** Accepts an upgrade request. Responds with an error and resolves to undefined if the request is invalid. */
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
			// Not read before an endpoint subscribes to its events.
			accepted.pause();
			resolve(accepted);
		});
	});
}

/**
 * Wraps a WebSocket, which either side may have opened, in an endpoint. Each text message is one MCP message.
 */
export function webSocketEndpoint(socket: WebSocket, options: WebSocketEndpointOptions): WebSocketEndpoint {
	return new WebSocketEndpoint(socket, options);
}

export class WebSocketEndpoint implements Endpoint {
	readonly name: string;
	readonly incoming: Endpoint['incoming'];
	readonly outgoing: Endpoint['outgoing'];
	readonly disconnected: Promise<void>;
	readonly #socket: WebSocket;
	readonly #options: WebSocketEndpointOptions;
	readonly #origin: MessageOrigin;
	readonly #incomingBuffer = new IncomingBuffer();
	readonly #queued = new QueuedMessages();
	readonly #shutValves = new ShutValves();
	readonly #pingTimer: NodeJS.Timeout;
	readonly #controlFrames: ControlFrames;
	#missedPongs = 0;
	#isPaused = false;

	constructor(socket: WebSocket, options: WebSocketEndpointOptions) {
		const {name, headers, isUpstream = false, pingMs = PING_MS} = options;
		this.#socket = socket;
		this.#options = options;
		this.#origin = {name, valve: new Valve(), ...(headers ? {headers} : {})};
		this.name = name;
		this.incoming = this.#incomingBuffer.messages;
		this.outgoing = {
			next: envelope => this.send(envelope),
			error: () => socket.close(1011),
			// An upstream may still have pending responses.
			complete: () => (isUpstream ? undefined : socket.close(1000)),
		};
		this.#pingTimer = setInterval(() => this.#ping(), pingMs).unref();
		this.disconnected = new Promise(resolve => {
			if (socket.readyState === socket.CLOSED) resolve();
			socket.once('close', () => resolve());
		});
		void this.disconnected.then(() => this.fail(this.#closeError(1006, '')));
		this.#controlFrames = new ControlFrames(socket, reason => this.#onFlood(reason));
		this.#listen();
		socket.resume();
	}

	send(envelope: Envelope): void {
		const {readyState, CONNECTING, OPEN} = this.#socket;
		if (readyState === CONNECTING) this.#queued.add(envelope);
		else if (readyState === OPEN) this.#send(envelope);
	}

	/** Emits a message on behalf of the peer. */
	emit(envelope: Envelope): void {
		this.#incomingBuffer.next(envelope);
	}

	/** Removes and returns the queued messages. Used when the connection could not be opened. */
	takeQueued(): Envelope[] {
		return this.#queued.drain();
	}

	/** Drops queued messages and ends `incoming`, unless it has ended already. */
	fail(error: BridgeError | undefined): void {
		clearInterval(this.#pingTimer);
		this.#shutValves.release();
		this.#queued.drain();
		this.#incomingBuffer.end(error);
	}

	async close(): Promise<void> {
		this.fail(undefined);
		const socket = this.#socket;
		// The close frame of the peer must be read.
		socket.resume();
		if (socket.readyState !== socket.CONNECTING) {
			socket.close(1000);
			await Promise.race([this.disconnected, pause(CLOSE_TIMEOUT_MS)]);
		}
		socket.terminate();
		await this.disconnected;
	}

	#listen(): void {
		this.#socket
			.on('open', () => {
				for (const envelope of this.#queued.drain()) this.send(envelope);
			})
			.on('message', (data: Buffer, isBinary) => this.#onMessage(data, isBinary))
			.on('pong', () => {
				this.#missedPongs = 0;
			})
			.on('error', error => this.fail(this.#socketError(error)))
			.on('close', (code, reason) => this.fail(this.#closeError(code, String(reason))));
	}

	#onMessage(data: Buffer, isBinary: boolean): void {
		this.#missedPongs = 0;
		if (data.length === 0 && !this.#controlFrames.count()) return;
		this.#incomingBuffer.next(
			isBinary ? Envelope.notText(data, this.#origin) : envelopeFromMessage(data, this.#origin),
		);
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
		if (socket.bufferedAmount + bytes.length <= MAX_BUFFERED_BYTES) {
			socket.send(bytes, TEXT_FRAME);
			if (socket.bufferedAmount > 0) trackUnread(this.#options.tcpSocket);
			return;
		}
		this.#shutValves.shut(origin.valve);
		socket.send(bytes, TEXT_FRAME, () => {
			if (socket.bufferedAmount <= MAX_BUFFERED_BYTES) this.#shutValves.release();
		});
		trackUnread(this.#options.tcpSocket);
	}

	/** Sends a ping, or disconnects a peer that missed pongs. Not under backpressure, which delays pongs. */
	#ping(): void {
		const socket = this.#socket;
		if (socket.readyState !== socket.OPEN) return;
		if (this.#isPaused || !this.#shutValves.isEmpty) this.#missedPongs = 0;
		else if (this.#missedPongs < MAX_MISSED_PONGS) {
			this.#missedPongs++;
			socket.ping();
		} else {
			this.fail(this.#lostError(`it did not respond to ${MAX_MISSED_PONGS} pings`));
			socket.terminate();
		}
	}

	#onFlood(reason: string): void {
		this.#options.log?.warn('ws.flood', `${this.name} was disconnected: it sent ${reason}.`);
		this.fail(this.#lostError(`it sent ${reason}`));
	}

	#socketError(error: NodeJS.ErrnoException): BridgeError | undefined {
		const {name, maxBytes = MESSAGE_LIMIT} = this.#options;
		if (error.code !== 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return this.#lostError(networkErrorReason(error));
		return new BridgeError(
			'ERR_MESSAGE_TOO_LARGE',
			`${name} sent a message of more than ${maxBytes} bytes (limits.message); the connection was closed.`,
			'Send smaller messages, or raise limits.message.',
			{limit: maxBytes},
		);
	}

	#closeError(code: number, reason: string): BridgeError | undefined {
		const suffix = reason === '' ? '' : `: ${printable(shortened(reason))}`;
		return this.#lostError(`the connection was closed with code ${code}${suffix}`);
	}

	/** The error of a lost connection to an upstream; undefined for a client. */
	#lostError(reason: string): BridgeError | undefined {
		if (!this.#options.isUpstream) return;
		return new BridgeError(
			'ERR_UPSTREAM_UNREACHABLE',
			`The connection to ${this.name} was lost: ${reason}.`,
			'Connect again. If that fails, check the address and that the server is running.',
		);
	}
}
