import type {IncomingMessage} from 'node:http';
import {WebSocket} from 'ws';
import type {Headers, Refusal} from '../envelope.js';
import {MESSAGE_LIMIT} from '../operators/frame.js';
import type {Endpoint} from '../stage.js';
import {MAX_REFUSAL_BYTES, plainHeaders, refusalOf, refusedBy} from './refusal.js';
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

/** A server behind a WebSocket. What is said before the connection is there waits. */
export function wsClient(options: WsClientOptions): Endpoint {
	const {name, url, headers, maxBytes = MESSAGE_LIMIT, handshakeMs = HANDSHAKE_MS, pingMs} = options;
	const socket = new WebSocket(url, [SUBPROTOCOL], {
		...socketOptions(maxBytes),
		headers: {...headers?.()},
		handshakeTimeout: handshakeMs,
		followRedirects: false,
	});
	const peer = wsEndpoint(socket, {
		...{name, maxBytes, isUpstream: true},
		...(pingMs === undefined ? {} : {pingMs}),
	});
	socket.on('unexpected-response', (_request, response) => {
		readRefusal(response, refusal => {
			refuse(peer, refusal);
			socket.terminate();
		});
	});
	return peer;
}

/** The server did not want to. All that waits for the connection gets to know how. */
function refuse(peer: WsPeer, refusal: Refusal): void {
	const error = refusedBy(peer.name, refusal);
	for (const envelope of peer.takeHeld()) {
		const answer = refusalOf(envelope, error, peer.name, refusal);
		if (answer) peer.hear(answer);
	}
	peer.fail(error);
}

/** Reads as much of a refusal as is of use. */
function readRefusal(response: IncomingMessage, done: (refusal: Refusal) => void): void {
	const {statusCode: status = 0, headers} = response;
	const chunks: Buffer[] = [];
	let length = 0;
	response
		.on('data', (chunk: Buffer) => {
			length += chunk.length;
			if (length <= MAX_REFUSAL_BYTES) chunks.push(chunk);
			else response.destroy();
		})
		.on('error', () => {})
		.on('close', () => done({status, headers: plainHeaders(headers), body: Buffer.concat(chunks)}));
}
