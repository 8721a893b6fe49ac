// The four transports of a server of the handshake era. `connect(transport)` attaches a new server.
import {randomUUID} from 'node:crypto';
import {once} from 'node:events';
import {createServer} from 'node:http';
import process from 'node:process';
import {json} from 'node:stream/consumers';
import {SSEServerTransport} from '@modelcontextprotocol/sdk/server/sse.js';
import {StdioServerTransport} from '@modelcontextprotocol/sdk/server/stdio.js';
import {StreamableHTTPServerTransport} from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {WebSocketServer} from 'ws';

/** Stores sent events, so that a client can resume a broken stream. */
class Events {
	#events = new Map();

	async storeEvent(stream, message) {
		const id = `${stream}_${String(this.#events.size).padStart(8, '0')}`;
		this.#events.set(id, {stream, message});
		return id;
	}

	async getStreamIdForEventId(id) {
		return this.#events.get(id)?.stream;
	}

	async replayEventsAfter(last, {send}) {
		const stream = this.#events.get(last)?.stream ?? '';
		for (const [id, event] of this.#events) {
			// The first event of a stream is empty and only provides an id to resume from.
			const isSomething = Object.keys(event.message ?? {}).length > 0;
			if (id > last && event.stream === stream && isSomething) await send(id, event.message);
		}

		return stream;
	}
}

export const loopback = ['localhost', '127.0.0.1', '[::1]'];

function isLocal({host, origin}) {
	const names = [host && `http://${host}`, origin].filter(Boolean);
	return names.every(name => loopback.includes(URL.parse(name)?.hostname));
}

function refuse(response, status, code, message) {
	response.writeHead(status, {'content-type': 'application/json'});
	response.end(JSON.stringify({jsonrpc: '2.0', error: {code, message}, id: null}));
}

function overHttp(connect) {
	const sessions = new Map();

	async function open() {
		const transport = new StreamableHTTPServerTransport({
			sessionIdGenerator: randomUUID,
			eventStore: new Events(),
			retryInterval: 300,
			onsessioninitialized: id => sessions.set(id, transport),
		});
		transport.onclose = () => sessions.delete(transport.sessionId);
		await connect(transport);
		return transport;
	}

	return async (request, response) => {
		if (!isLocal(request.headers)) return refuse(response, 403, -32000, 'Host or origin is not allowed');
		if (request.url.split('?')[0] !== '/mcp') return refuse(response, 404, -32000, 'Not found');
		const body = request.method === 'POST' ? await json(request).catch(() => undefined) : {};
		if (body === undefined) return refuse(response, 400, -32700, 'Parse error');
		const id = request.headers['mcp-session-id'];
		if (id === undefined && body.method !== 'initialize') {
			return refuse(response, 400, -32000, 'There is no session');
		}

		const transport = id === undefined ? await open() : sessions.get(id);
		if (transport === undefined) return refuse(response, 404, -32001, 'Session not found');
		await transport.handleRequest(request, response, request.method === 'POST' ? body : undefined);
	};
}

function overSse(connect) {
	const sessions = new Map();
	return async (request, response) => {
		const {pathname, searchParams} = new URL(request.url, 'http://localhost');
		if (request.method === 'GET' && pathname === '/sse') {
			const transport = new SSEServerTransport('/messages', response);
			sessions.set(transport.sessionId, transport);
			transport.onclose = () => sessions.delete(transport.sessionId);
			await connect(transport);
		} else if (request.method === 'POST' && pathname === '/messages') {
			const transport = sessions.get(searchParams.get('sessionId'));
			if (transport === undefined) return refuse(response, 404, -32001, 'Session not found');
			await transport.handlePostMessage(request, response);
		} else {
			refuse(response, request.method === 'POST' ? 405 : 404, -32000, 'Not here');
		}
	};
}

function overWebSocket(socket, connect) {
	const transport = {
		async start() {
			socket.on('message', data => transport.onmessage?.(JSON.parse(data.toString())));
			socket.on('close', () => transport.onclose?.());
		},
		async send(message) {
			socket.send(JSON.stringify(message));
		},
		async close() {
			socket.close();
		},
	};
	return connect(transport);
}

/** Listens on a port of the loopback interface, and prints it. */
export async function listen(handler, port) {
	const server = createServer(handler);
	server.listen(Number(port), '127.0.0.1');
	await once(server, 'listening');
	process.stderr.write(`listening ${server.address().port}\n`);
	return server;
}

export async function serve([mode, port = '0'], connect) {
	if (mode === 'http') await listen(overHttp(connect), port);
	else if (mode === 'sse') await listen(overSse(connect), port);
	else if (mode === 'ws') {
		const server = await listen((_request, response) => refuse(response, 426, -32000, 'Not here'), port);
		const handleProtocols = offered => (offered.has('mcp') ? 'mcp' : false);
		const sockets = new WebSocketServer({server, handleProtocols});
		sockets.on('connection', socket => overWebSocket(socket, connect));
	} else await connect(new StdioServerTransport());
}
