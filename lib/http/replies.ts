import type {IncomingMessage, ServerResponse} from 'node:http';
import {type HttpError, sendHttpError} from './http-error.js';
import type {RequestTarget} from './target.js';

/** A target below /mcp. */
export type McpTarget = Extract<RequestTarget, {service: string}>;

export const allowedMethods: {readonly [kind in McpTarget['kind']]: readonly string[]} = {
	mcp: ['GET', 'POST', 'DELETE'],
	sse: ['GET'],
	message: ['POST'],
};

/** Why a request with this method goes no further. */
export function checkMethod(
	{method = ''}: IncomingMessage,
	allowed: readonly string[],
): HttpError | undefined {
	if (allowed.includes(method)) return;
	return {status: 405, message: 'Method Not Allowed', headers: {allow: allowed.join(', ')}};
}

/** Work that fails, for a handler that responds with 500 then. */
export const throwLater = (error: unknown) => (): never => {
	throw error;
};

/** Answers with JSON that people can read, too. */
export function sendJson(res: ServerResponse, value: unknown): void {
	const body = Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);
	res.writeHead(200, {'content-type': 'application/json', 'content-length': body.length}).end(body);
}

/** Answers the end of a session. A server that has no such thing says so, and so does bridge then. */
export function sendSessionEnded(res: ServerResponse, status: number | undefined): void {
	if (status === 405)
		sendHttpError(res, {status, message: 'Method Not Allowed', headers: {allow: 'GET, POST'}});
	else res.writeHead(200, {'content-length': 0}).end();
}
