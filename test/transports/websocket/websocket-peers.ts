import type {IncomingMessage} from 'node:http';
import type {Duplex} from 'node:stream';
import type {ExecutionContext} from 'ava';
import {WebSocket} from 'ws';
import {Envelope, type MessageOrigin} from '../../../lib/core/envelope.js';
import type {BridgeError} from '../../../lib/core/errors.js';
import type {Endpoint} from '../../../lib/core/stage.js';
import {
	acceptWebSocket,
	type WebSocketEndpointOptions,
	webSocketEndpoint,
} from '../../../lib/transports/websocket/websocket.js';
import {
	type WebSocketClientOptions,
	webSocketClient,
} from '../../../lib/transports/websocket/websocket-client.js';
import {until} from '../../helpers/pipeline.js';
import {portOf, serve} from '../http-peers.js';

/** An endpoint and what came from it so far. */
export function listening(endpoint: Endpoint) {
	const heard: Envelope[] = [];
	let end: {readonly error: BridgeError | undefined} | undefined;
	endpoint.incoming.subscribe({
		next: envelope => heard.push(envelope),
		error: error => {
			end = {error: error as BridgeError};
		},
		complete: () => {
			end = {error: undefined};
		},
	});
	const ended = async (): Promise<BridgeError | undefined> => {
		await until(() => end !== undefined);
		return end?.error;
	};
	const texts = (): string[] => heard.map(({bytes}) => String(bytes));
	const say = (text: string, origin?: MessageOrigin): void =>
		endpoint.outgoing.next(Envelope.fromText(text, origin));
	return {endpoint, heard, texts, ended, say, isOver: () => end !== undefined};
}

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** A server that deals with upgrades as it is told. */
export async function upgrading(t: ExecutionContext, onUpgrade: Upgrade): Promise<URL> {
	const server = await serve(t);
	server.on('upgrade', (request, socket, head) => {
		socket.on('error', () => {});
		t.teardown(() => socket.destroy());
		onUpgrade(request, socket, head);
	});
	return new URL(`ws://127.0.0.1:${portOf(server)}/mcp?key=secret`);
}

/** A server of bridge's own kind: its endpoints, as they come. */
export async function serving(t: ExecutionContext, options: Partial<WebSocketEndpointOptions> = {}) {
	const clients: Array<ReturnType<typeof listening>> = [];
	const requests: IncomingMessage[] = [];
	/** How often clients have asked whether anybody is there. */
	let pings = 0;
	const url = await upgrading(t, (request, socket, head) => {
		requests.push(request);
		void acceptWebSocket(request, socket, head, options.maxBytes).then(accepted => {
			accepted?.on('ping', () => pings++);
			if (accepted) clients.push(listening(webSocketEndpoint(accepted, {name: 'client', ...options})));
		});
	});
	const first = async () => {
		await until(() => clients.length > 0);
		return clients[0] as ReturnType<typeof listening>;
	};
	return {pings: () => pings, url, clients, requests, first};
}

/** A client of bridge's own kind. */
export function connecting(t: ExecutionContext, url: URL, options: Partial<WebSocketClientOptions> = {}) {
	const endpoint = webSocketClient({name: 'remote', url, ...options});
	t.teardown(() => endpoint.close());
	return listening(endpoint);
}

/** A client that is not of bridge's kind. */
export async function plain(
	t: ExecutionContext,
	url: URL,
	protocols: string[] = ['mcp'],
): Promise<WebSocket> {
	const socket = new WebSocket(url, protocols, {perMessageDeflate: true});
	t.teardown(() => socket.terminate());
	socket.on('error', () => {});
	await new Promise(resolve => socket.once('open', resolve).once('close', resolve));
	return socket;
}
