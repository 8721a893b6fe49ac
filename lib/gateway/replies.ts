import {type IncomingMessage, type ServerResponse, STATUS_CODES} from 'node:http';
import type {Duplex} from 'node:stream';
import {type Refused, refuse} from '../http/refuse.js';

/** Why a request with this method goes no further. */
export function only({method = ''}: IncomingMessage, allowed: readonly string[]): Refused | undefined {
	if (allowed.includes(method)) return;
	return {status: 405, message: 'Method Not Allowed', headers: {allow: allowed.join(', ')}};
}

/** Answers with JSON that people can read, too. */
export function json(res: ServerResponse, value: unknown): void {
	const body = Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);
	res.writeHead(200, {'content-type': 'application/json', 'content-length': body.length}).end(body);
}

/** Answers the end of a session. A server that has no such thing says so, and so does bridge then. */
export function ended(res: ServerResponse, status: number | undefined): void {
	if (status === 405) refuse(res, {status, message: 'Method Not Allowed', headers: {allow: 'GET, POST'}});
	else res.writeHead(200, {'content-length': 0}).end();
}

/** Answers a client that wanted to change to another protocol, and may not. */
export function notUpgraded(socket: Duplex, {status, message}: Refused): void {
	const head = [
		`HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
		'Connection: close',
		'Content-Type: text/plain',
		`Content-Length: ${Buffer.byteLength(message)}`,
	];
	socket.on('error', () => {});
	socket.end(`${head.join('\r\n')}\r\n\r\n${message}`);
}
