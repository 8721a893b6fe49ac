import type {IncomingHttpHeaders} from 'node:http';
import {Envelope, type Headers, type MessageOrigin} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {objectOf} from '../../util/json.js';
import {headerValue} from './http-request.js';

/** What a client is told of the headers of a refusal. */
const forwardedHeaders = [
	'content-type',
	'content-encoding',
	'www-authenticate',
	'retry-after',
	'allow',
] as const;

/** Whether nothing of a request can have reached its server. */
export const isUndelivered = ({code}: NodeJS.ErrnoException): boolean => code === 'ECONNREFUSED';

/** Errors that a server without sessions tells by a status of HTTP, too. They are answers like any other. */
const codesSentWithStatus: readonly unknown[] = [-32601, -32020, -32021, -32022];

/** The answer to a request that a server, or whoever stands before it, refused with a status: what it said, if it can be told. */
export function httpErrorResponse(
	{
		name,
		request,
		isModern: isStateless,
	}: {readonly name: string; readonly request: Envelope; readonly isModern: boolean},
	origin: MessageOrigin,
	{status, headers, body}: {status: number; headers: IncomingHttpHeaders; body: Buffer | undefined},
): Envelope {
	const {id = 'null', method} = request.head;
	const failure = new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		`${name} answered with HTTP status ${status}.`,
		remedyFor(status, method === 'initialize'),
		{status},
	);
	const forwarded: {[name: string]: string} = {};
	for (const header of forwardedHeaders) {
		const value = headerValue(headers, header);
		if (value !== undefined) forwarded[header] = value;
	}
	const errorReply = body
		? {status, headers: forwarded, body}
		: replacementHttpError(id, status, forwarded, failure);
	const error = body && rpcErrorIn(body);
	if (isStateless && codesSentWithStatus.includes(objectOf(error).code))
		return Envelope.response(id, 'error', error, origin).forwardedAs(origin);
	const from = {...origin, errorReply};
	return error === undefined
		? Envelope.errorResponse(id, failure, from)
		: Envelope.response(id, 'error', error, from);
}

function remedyFor(status: number, isInitialize: boolean): string {
	if (status === 401) return 'Give it the credentials that it asks for.';
	return isInitialize && (status === 404 || status === 405)
		? 'Check that the URL is that of an MCP server.'
		: 'Look for the request in its own log.';
}

/** In place of a body that is too long to be kept. */
function replacementHttpError(id: string, status: number, headers: Headers, failure: BridgeError) {
	const {'content-encoding': _encoding, ...forwarded} = headers;
	const {bytes: body} = Envelope.errorResponse(id, failure);
	return {status, headers: {...forwarded, 'content-type': 'application/json'}, body};
}

/** The error of JSON-RPC in the body of a refusal. */
function rpcErrorIn(body: Buffer): unknown {
	if (!body.toString('latin1', 0, 64).trimStart().startsWith('{')) return;
	try {
		const {error} = objectOf(JSON.parse(body.toString()));
		return error;
	} catch {
		return;
	}
}
