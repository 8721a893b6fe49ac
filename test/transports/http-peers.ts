import {createServer, type IncomingMessage, type RequestListener, type Server} from 'node:http';
import {type AddressInfo, createConnection, type Socket} from 'node:net';
import type {ExecutionContext} from 'ava';

/** Starts a server on a free port. It is closed at the end of the test. */
export async function serve(t: ExecutionContext, listener: RequestListener = () => {}): Promise<Server> {
	const server = createServer(listener);
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});
	return server;
}

export const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** Reads the body of a request. */
export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk as Buffer);
	return Buffer.concat(chunks);
}

/** Sends a GET. `text()` is the raw response so far, one character per byte. */
export function get(t: ExecutionContext, server: Server, path = '/'): Socket & {text: () => string} {
	const socket = createConnection(portOf(server), '127.0.0.1');
	t.teardown(() => socket.destroy());
	const chunks: Buffer[] = [];
	socket.on('error', () => {});
	socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
	socket.on('data', chunk => chunks.push(chunk));
	return Object.assign(socket, {text: () => Buffer.concat(chunks).toString('latin1')});
}

/** The decoded part of a chunked body so far. */
export function unchunked(text: string): string {
	let rest = text.slice(text.indexOf('\r\n\r\n') + 4);
	let body = '';
	for (let match = /^([\da-f]+)\r\n/.exec(rest); match; match = /^([\da-f]+)\r\n/.exec(rest)) {
		const [line, size = '0'] = match;
		const length = Number.parseInt(size, 16);
		body += rest.slice(line.length, line.length + length);
		rest = rest.slice(line.length + length + 2);
	}
	return Buffer.from(body, 'latin1').toString();
}
