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

/** Subscribes to an endpoint and collects its messages. */
export function collect(endpoint: Endpoint) {
	const received: Envelope[] = [];
	let end: {readonly error: BridgeError | undefined} | undefined;
	endpoint.incoming.subscribe({
		next: envelope => received.push(envelope),
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
	const texts = (): string[] => received.map(({bytes}) => String(bytes));
	const send = (text: string, origin?: MessageOrigin): void =>
		endpoint.outgoing.next(Envelope.fromText(text, origin));
	return {endpoint, received, texts, ended, send, isOver: () => end !== undefined};
}

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Starts a server that handles upgrades with this function. */
export async function startUpgradeServer(t: ExecutionContext, onUpgrade: Upgrade): Promise<URL> {
	const server = await serve(t);
	server.on('upgrade', (request, socket, head) => {
		socket.on('error', () => {});
		t.teardown(() => socket.destroy());
		onUpgrade(request, socket, head);
	});
	return new URL(`ws://127.0.0.1:${portOf(server)}/mcp?key=secret`);
}

/** Starts a server with the endpoints under test. `clients` has one per connection. */
export async function startServer(t: ExecutionContext, options: Partial<WebSocketEndpointOptions> = {}) {
	const clients: Array<ReturnType<typeof collect>> = [];
	const requests: IncomingMessage[] = [];
	let pings = 0;
	const url = await startUpgradeServer(t, (request, socket, head) => {
		requests.push(request);
		void acceptWebSocket(request, socket, head, options.maxBytes).then(accepted => {
			accepted?.on('ping', () => pings++);
			if (accepted) clients.push(collect(webSocketEndpoint(accepted, {name: 'client', ...options})));
		});
	});
	const firstClient = async () => {
		await until(() => clients.length > 0);
		return clients[0] as ReturnType<typeof collect>;
	};
	return {pings: () => pings, url, clients, requests, firstClient};
}

/** Connects the client under test. */
export function connectClient(t: ExecutionContext, url: URL, options: Partial<WebSocketClientOptions> = {}) {
	const endpoint = webSocketClient({name: 'remote', url, ...options});
	t.teardown(() => endpoint.close());
	return collect(endpoint);
}

/** Connects a client of the ws package, without the endpoint of bridge. */
export async function connectPlain(
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
