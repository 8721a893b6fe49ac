import type {IncomingMessage, ServerResponse} from 'node:http';
import {type Refused, refuse} from '../http/refuse.js';
import type {Target} from '../http/target.js';

/** A target below /mcp. */
export type Served = Extract<Target, {service: string}>;

export const methods: {readonly [kind in Served['kind']]: readonly string[]} = {
	mcp: ['GET', 'POST', 'DELETE'],
	sse: ['GET'],
	message: ['POST'],
};

/** Why a request with this method goes no further. */
export function only({method = ''}: IncomingMessage, allowed: readonly string[]): Refused | undefined {
	if (allowed.includes(method)) return;
	return {status: 405, message: 'Method Not Allowed', headers: {allow: allowed.join(', ')}};
}

/** Work that fails, for a handler that responds with 500 then. */
export const failing = (error: unknown) => (): never => {
	throw error;
};

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
