import type {IncomingHttpHeaders} from 'node:http';
import {Envelope, type HttpErrorReply, type MessageOrigin} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {describeRedirectTarget, REDIRECT_RULE, WEBSOCKET_REDIRECT_RULE} from './redirect.js';

/** The limit of a forwarded HTTP error body. */
export const MAX_HTTP_ERROR_BYTES = 2 ** 16;
/** Headers of an HTTP error response that are forwarded to the client. */
const forwardedHeaders = ['content-type', 'www-authenticate', 'retry-after', 'allow'] as const;

/** An HTTP error response of an upstream: the reply as received, and an error that describes it. */
export type UpstreamHttpError = {readonly errorReply: HttpErrorReply; readonly error: BridgeError};

export function upstreamHttpError(
	{name, url}: {readonly name: string; readonly url: URL},
	{
		status,
		headers,
		body,
	}: {readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer},
): UpstreamHttpError {
	const forwarded = forwardedHeaders.flatMap(header => {
		const value = headers[header];
		return value === undefined ? [] : [[header, String(value)] as const];
	});
	const error = new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		`${name} responded with HTTP status ${status}${redirectNote(status, headers, url)}.`,
		status === 401 || status === 403
			? 'Configure the credentials that it requires.'
			: 'Check its address and its log.',
		{status},
	);
	return {errorReply: {status, headers: Object.fromEntries(forwarded), body}, error};
}

/** The target of a redirect that was not followed. */
function redirectNote(status: number, headers: IncomingHttpHeaders, url: URL): string {
	if (status < 300 || status >= 400 || headers.location === undefined) return '';
	const rule = url.protocol.startsWith('ws') ? WEBSOCKET_REDIRECT_RULE : REDIRECT_RULE;
	return `, a redirect to ${describeRedirectTarget(headers, url)}; ${rule}`;
}

/**
 * The response to a failed request; undefined for other messages. It has the valve of the request, so that it
 * applies backpressure to the sender of the request.
 */
export function failedRequestResponse(
	{head: {id, method}, origin}: Envelope,
	name: string,
	{error, errorReply}: {readonly error: BridgeError; readonly errorReply?: HttpErrorReply},
): Envelope | undefined {
	if (id === undefined || method === undefined) return;
	// A redirect is not forwarded: it is useless for the client.
	const isForwarded = errorReply !== undefined && errorReply.status >= 400;
	const from: MessageOrigin = {name, valve: origin.valve, ...(isForwarded ? {errorReply} : {})};
	return Envelope.errorResponse(id, error, from);
}
