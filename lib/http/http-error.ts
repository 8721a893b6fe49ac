import {type IncomingMessage, type ServerResponse, STATUS_CODES} from 'node:http';
import type {Duplex} from 'node:stream';

/** An HTTP error response. Never reveals anything about the upstream. */
export type HttpError = {
	readonly status: number;
	readonly message: string;
	/** The JSON-RPC error code. The default is -32000. */
	readonly code?: number;
	readonly headers?: {readonly [name: string]: string};
	readonly data?: {readonly [name: string]: unknown};
	readonly id?: string | undefined;
	/** The event that logs the rejection. Without one, it is not logged. */
	readonly event?: 'http.host_rejected' | 'http.origin_rejected';
	/** Whether the connection is closed, for instance because the rest of a body was not read. */
	readonly closesConnection?: boolean;
};

/** The response if a handler throws. The error itself is logged. */
export const internalError: HttpError = {
	status: 500,
	code: -32603,
	message: 'Internal error: see the log of bridge',
	data: {source: 'bridge', kind: 'bug'},
};

export function sendHttpError(res: ServerResponse, httpError: HttpError): void {
	const {status, message, code = -32000, headers, data, id, closesConnection} = httpError;
	if (res.headersSent || res.destroyed) {
		res.destroy();
		return;
	}
	const error = JSON.stringify({code, message, ...(data ? {data} : {})});
	// Without a known id, the member is omitted: the client of the MCP SDK rejects null as malformed.
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

/** How long a client that is still sending gets to read the response. */
const LINGER_MS = 500;

const hasUnreadBody = ({headers, complete}: IncomingMessage): boolean =>
	!complete && ('transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 0);

/**
 * Sends a response, and closes the connection after a delay. Otherwise a client that is still sending might
 * get a connection reset before it reads the response. The rest of its data is not read.
 */
function endAfterLinger(res: ServerResponse, body: Buffer): void {
	res.req.pause();
	res.write(body);
	const timer = setTimeout(() => res.end(), LINGER_MS);
	res.once('close', () => clearTimeout(timer));
}

/** Ends a connection without an HTTP parser. It is destroyed if the client does not close its side. */
export function endConnection(socket: Duplex, text: string): void {
	socket.on('error', () => {});
	socket.end(text);
	const timer = setTimeout(() => socket.destroy(), LINGER_MS);
	socket.once('close', () => clearTimeout(timer));
}

export function rejectUpgrade(socket: Duplex, {status, message}: HttpError): void {
	const head = [
		`HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
		'Connection: close',
		'Content-Type: text/plain',
		`Content-Length: ${Buffer.byteLength(message)}`,
	];
	endConnection(socket, `${head.join('\r\n')}\r\n\r\n${message}`);
}
