import {type IncomingMessage, type ServerResponse, STATUS_CODES} from 'node:http';
import type {Duplex} from 'node:stream';

/** An answer that says no: what a person or a program can do about it, and nothing of what is behind bridge. */
export type HttpError = {
	readonly status: number;
	readonly message: string;
	/** The code of JSON-RPC; without it, a plain error. */
	readonly code?: number;
	readonly headers?: {readonly [name: string]: string};
	/** Facts beside the sentence. */
	readonly data?: {readonly [name: string]: unknown};
	/** The id of the request, as text. */
	readonly id?: string | undefined;
	/** Whether the connection is of no more use, for instance because the rest of a body was not read. */
	readonly closesConnection?: boolean;
};

/** The response to a request on which a handler threw. The log has the error. */
export const internalError: HttpError = {
	status: 500,
	code: -32603,
	message: 'Internal error: see the log of bridge',
	data: {source: 'bridge', kind: 'bug'},
};

/** Answers an HTTP request that goes no further. */
export function sendHttpError(res: ServerResponse, httpError: HttpError): void {
	const {status, message, code = -32000, headers, data, id, closesConnection} = httpError;
	if (res.headersSent || res.destroyed) {
		res.destroy();
		return;
	}
	const error = JSON.stringify({code, message, ...(data ? {data: data} : {})});
	// Without an id it answers nobody's message, and the SDK's client takes null for a malformed one.
	const body = Buffer.from(`{"jsonrpc":"2.0",${id === undefined ? '' : `"id":${id},`}"error":${error}}`);
	res.writeHead(status, {
		'content-type': 'application/json',
		'content-length': body.length,
		...(closesConnection ? {connection: 'close'} : {}),
		...headers,
	});
	if (closesConnection && hasUnreadBody(res.req)) endAfterLinger(res, body);
	else res.end(body);
}

/** How long a client that is still sending has to read why it need not. */
const LINGER_MS = 500;

const hasUnreadBody = ({headers, complete}: IncomingMessage): boolean =>
	!complete && ('transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 0);

/**
 * Says it all, and closes the connection a little later. A client whose connection is closed while it sends hears of that
 * first, and of the answer perhaps never. Nothing more of what it sends is read.
 */
function endAfterLinger(res: ServerResponse, body: Buffer): void {
	res.req.pause();
	res.write(body);
	const timer = setTimeout(() => res.end(), LINGER_MS);
	res.once('close', () => clearTimeout(timer));
}

/** Ends a connection that no parser reads any more. A client that does not close its side does not keep it. */
export function endConnection(socket: Duplex, text: string): void {
	socket.on('error', () => {});
	socket.end(text);
	const timer = setTimeout(() => socket.destroy(), LINGER_MS);
	socket.once('close', () => clearTimeout(timer));
}

/** Rejects a request to change the protocol of a connection. */
export function rejectUpgrade(socket: Duplex, {status, message}: HttpError): void {
	const head = [
		`HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
		'Connection: close',
		'Content-Type: text/plain',
		`Content-Length: ${Buffer.byteLength(message)}`,
	];
	endConnection(socket, `${head.join('\r\n')}\r\n\r\n${message}`);
}
