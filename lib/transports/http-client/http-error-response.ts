import type {IncomingHttpHeaders} from 'node:http';
import {Envelope, type Headers, type MessageOrigin} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {objectOf} from '../../util/json.js';
import {headerValue} from './http-request.js';

/** Headers of an HTTP error response that are forwarded to the client. */
const forwardedHeaders = [
	'content-type',
	'content-encoding',
	'www-authenticate',
	'retry-after',
	'allow',
] as const;

/** Whether no byte of the request can have reached the upstream. */
export const isUndelivered = ({code}: NodeJS.ErrnoException): boolean => code === 'ECONNREFUSED';

/** Codes of errors that a stateless upstream sends with an HTTP error status. They are ordinary responses. */
const codesSentWithStatus: readonly unknown[] = [-32601, -32020, -32021, -32022];

/**
 * Returns the response to a request that an upstream or a proxy in front of it rejected with an HTTP error.
 * Contains the JSON-RPC error of the body, if there is one.
 */
export function httpErrorResponse(
	{
		name,
		request,
		isStateless,
	}: {readonly name: string; readonly request: Envelope; readonly isStateless: boolean},
	origin: MessageOrigin,
	{status, headers, body}: {status: number; headers: IncomingHttpHeaders; body: Buffer | undefined},
): Envelope {
	const {id = 'null', method} = request.head;
	const failure = new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		`${name} responded with HTTP status ${status}.`,
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
	if (status === 401) return 'Configure the credentials that it requires.';
	return isInitialize && (status === 404 || status === 405)
		? 'Check that the URL is that of an MCP server.'
		: 'Check its log for this request.';
}

function replacementHttpError(id: string, status: number, headers: Headers, failure: BridgeError) {
	const {'content-encoding': _encoding, ...forwarded} = headers;
	const {bytes: body} = Envelope.errorResponse(id, failure);
	return {status, headers: {...forwarded, 'content-type': 'application/json'}, body};
}

/** The JSON-RPC error in the body of an HTTP error response. */
function rpcErrorIn(body: Buffer): unknown {
	if (!body.toString('latin1', 0, 64).trimStart().startsWith('{')) return;
	try {
		const {error} = objectOf(JSON.parse(body.toString()));
		return error;
	} catch {
		return;
	}
}
