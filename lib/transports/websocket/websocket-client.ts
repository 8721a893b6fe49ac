import type {IncomingMessage} from 'node:http';
import {WebSocket} from 'ws';
import type {Headers} from '../../core/envelope.js';
import type {Endpoint} from '../../core/stage.js';
import {MESSAGE_LIMIT} from '../../operators/frame.js';
import {
	failedRequestResponse,
	MAX_HTTP_ERROR_BYTES,
	type UpstreamHttpError,
	upstreamHttpError,
} from '../http-client/upstream-http-error.js';
import {SUBPROTOCOL, socketOptions, type WebSocketEndpoint, webSocketEndpoint} from './websocket.js';

export type WebSocketClientOptions = {
	readonly name: string;
	readonly url: URL;
	readonly headers?: () => Headers;
	readonly maxBytes?: number;
	readonly handshakeMs?: number;
	readonly pingMs?: number;
};

const HANDSHAKE_TIMEOUT_MS = 10_000;
/** How long an upstream may take to close the TCP connection after its close frame. */
const CLOSE_MS = 1000;
/** The types of ws do not contain this option yet. */
const closeOptions = {closeTimeout: CLOSE_MS};

/** Connects to an upstream over WebSocket. Messages are queued until the connection is open. */
export function webSocketClient(options: WebSocketClientOptions): Endpoint {
	const {name, url, headers, maxBytes = MESSAGE_LIMIT, handshakeMs = HANDSHAKE_TIMEOUT_MS, pingMs} = options;
	const socket = new WebSocket(url, [SUBPROTOCOL], {
		...socketOptions(maxBytes),
		...closeOptions,
		headers: {...headers?.()},
		handshakeTimeout: handshakeMs,
		followRedirects: false,
	});
	const endpoint = webSocketEndpoint(socket, {
		name,
		maxBytes,
		isUpstream: true,
		...(pingMs === undefined ? {} : {pingMs}),
	});
	socket.on('unexpected-response', (_request, response) => {
		void readErrorBody(response).then(body => {
			const {statusCode: status = 0, headers: responseHeaders} = response;
			rejectQueued(endpoint, upstreamHttpError(options, {status, headers: responseHeaders, body}));
			socket.terminate();
		});
	});
	return endpoint;
}

/** Fails the queued requests with the HTTP error of a rejected handshake. */
function rejectQueued(endpoint: WebSocketEndpoint, failure: UpstreamHttpError): void {
	for (const envelope of endpoint.takeQueued()) {
		const response = failedRequestResponse(envelope, endpoint.name, failure);
		if (response) endpoint.emit(response);
	}
	endpoint.fail(failure.error);
}

function readErrorBody(response: IncomingMessage): Promise<Buffer> {
	const chunks: Buffer[] = [];
	let length = 0;
	return new Promise(resolve => {
		response
			.on('data', (chunk: Buffer) => {
				chunks.push(chunk);
				length += chunk.length;
				if (length >= MAX_HTTP_ERROR_BYTES) response.destroy();
			})
			.on('error', () => {})
			.on('close', () => resolve(Buffer.concat(chunks).subarray(0, MAX_HTTP_ERROR_BYTES)));
	});
}
