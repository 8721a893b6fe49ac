// Lets a server be reached over HTTP+SSE of 2024-11-05 or WebSocket, by one client at a time. Says on stderr at which port.
import {createServer} from 'node:http';
import process from 'node:process';
import {SSEServerTransport} from '@modelcontextprotocol/sdk/server/sse.js';
import {WebSocketServer} from 'ws';

function overSse(server) {
	let transport;
	return createServer(async (request, response) => {
		const {pathname, searchParams} = new URL(request.url, 'http://localhost');
		if (request.method === 'GET' && pathname === '/sse') {
			transport = new SSEServerTransport('/messages', response);
			await server.connect(transport);
		} else if (request.method === 'POST' && searchParams.get('sessionId') === transport?.sessionId) {
			await transport.handlePostMessage(request, response);
		} else response.writeHead(404).end();
	});
}

/** A WebSocket as the SDK has transports: it brings one for clients only. */
function socketTransport(socket) {
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
	return transport;
}

function overWebSocket(server) {
	const http = createServer((_request, response) => response.writeHead(426).end());
	const sockets = new WebSocketServer({server: http, handleProtocols: offered => offered.has('mcp') && 'mcp'});
	sockets.on('connection', socket => server.connect(socketTransport(socket)));
	return http;
}

export function listen(server, kind) {
	const http = kind === 'ws' ? overWebSocket(server) : overSse(server);
	http.listen(0, '127.0.0.1', () => process.stderr.write(`listening on ${http.address().port}\n`));
}
