import type {IncomingMessage} from 'node:http';
import {WebSocket} from 'ws';
import type {Headers} from '../envelope.js';
import {MESSAGE_LIMIT} from '../operators/frame.js';
import type {Endpoint} from '../stage.js';
import {failedRequest, MAX_REFUSAL_BYTES, type Refused, refused} from './refusal.js';
import {SUBPROTOCOL, socketOptions, type WsPeer, wsEndpoint} from './websocket.js';

export type WsClientOptions = {
	readonly name: string;
	readonly url: URL;
	/** What the connection is asked for with. */
	readonly headers?: () => Headers;
	readonly maxBytes?: number;
	/** How long it may take until the connection is there. */
	readonly handshakeMs?: number;
	readonly pingMs?: number;
};

const HANDSHAKE_MS = 10_000;
/** How long a server may take to close the connection once it has said so. What is said meanwhile gets no answer. */
const CLOSE_MS = 1000;
/** The types of ws do not know this option yet. */
const closing = {closeTimeout: CLOSE_MS};

/** A server behind a WebSocket. What is said before the connection is there waits. */
export function wsClient(options: WsClientOptions): Endpoint {
	const {name, url, headers, maxBytes = MESSAGE_LIMIT, handshakeMs = HANDSHAKE_MS, pingMs} = options;
	const socket = new WebSocket(url, [SUBPROTOCOL], {
		...socketOptions(maxBytes),
		...closing,
		headers: {...headers?.()},
		handshakeTimeout: handshakeMs,
		followRedirects: false,
	});
	const peer = wsEndpoint(socket, {
		name,
		maxBytes,
		isUpstream: true,
		...(pingMs === undefined ? {} : {pingMs}),
	});
	socket.on('unexpected-response', (_request, response) => {
		void bodyOf(response).then(body => {
			const {statusCode: status = 0, headers: received} = response;
			refuse(peer, refused(options, {status, headers: received, body}));
			socket.terminate();
		});
	});
	return peer;
}

/** The server did not want to. All that waits for the connection gets to know how. */
function refuse(peer: WsPeer, failure: Refused): void {
	for (const envelope of peer.takeHeld()) {
		const answer = failedRequest(envelope, peer.name, failure);
		if (answer) peer.hear(answer);
	}
	peer.fail(failure.error);
}

/** As much of a body as is of use. */
function bodyOf(response: IncomingMessage): Promise<Buffer> {
	const chunks: Buffer[] = [];
	let length = 0;
	return new Promise(resolve => {
		response
			.on('data', (chunk: Buffer) => {
				chunks.push(chunk);
				length += chunk.length;
				if (length >= MAX_REFUSAL_BYTES) response.destroy();
			})
			.on('error', () => {})
			.on('close', () => resolve(Buffer.concat(chunks).subarray(0, MAX_REFUSAL_BYTES)));
	});
}
