import type {IncomingMessage, ServerResponse} from 'node:http';
import {type HttpError, sendHttpError} from './http-error.js';
import type {RequestTarget} from './target.js';

export type McpTarget = Extract<RequestTarget, {service: string}>;

export const allowedMethods: {readonly [kind in McpTarget['kind']]: readonly string[]} = {
	mcp: ['GET', 'POST', 'DELETE'],
	sse: ['GET'],
	message: ['POST'],
};

export function checkMethod(
	{method = ''}: IncomingMessage,
	allowed: readonly string[],
): HttpError | undefined {
	if (allowed.includes(method)) return;
	return {status: 405, message: 'Method Not Allowed', headers: {allow: allowed.join(', ')}};
}

/** Returns a function that throws this error, so that its caller responds with 500. */
export const throwLater = (error: unknown) => (): never => {
	throw error;
};

export function sendJson(res: ServerResponse, value: unknown): void {
	const body = Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);
	res.writeHead(200, {'content-type': 'application/json', 'content-length': body.length}).end(body);
}

/** Responds to the DELETE of a session. A 405 means that the upstream does not support it. */
export function sendSessionEnded(res: ServerResponse, status: number | undefined): void {
	if (status === 405)
		sendHttpError(res, {status, message: 'Method Not Allowed', headers: {allow: 'GET, POST'}});
	else res.writeHead(200, {'content-length': 0}).end();
}
