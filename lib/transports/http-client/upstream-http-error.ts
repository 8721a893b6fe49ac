import type {IncomingHttpHeaders} from 'node:http';
import {Envelope, type HttpErrorReply, type MessageOrigin} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {describeRedirectTarget, REDIRECT_RULE, WEBSOCKET_REDIRECT_RULE} from './redirect.js';

/** How much of the body of a refusal is passed on. */
export const MAX_HTTP_ERROR_BYTES = 2 ** 16;
/** The headers of a refusal that a client is told. */
const forwardedHeaders = ['content-type', 'www-authenticate', 'retry-after', 'allow'] as const;

/** That an upstream answered with a status instead of taking what it was asked: what it said, and what is said of it. */
export type UpstreamHttpError = {readonly refusal: HttpErrorReply; readonly error: BridgeError};

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
		`${name} answered with HTTP status ${status}${redirectNote(status, headers, url)}.`,
		status === 401 || status === 403
			? 'Give it the credentials that it asks for.'
			: 'Check its address, and what its own log says.',
		{status},
	);
	return {refusal: {status, headers: Object.fromEntries(forwarded), body}, error};
}

/** The target of a redirect that was not followed. */
function redirectNote(status: number, headers: IncomingHttpHeaders, url: URL): string {
	if (status < 300 || status >= 400 || headers.location === undefined) return '';
	const rule = url.protocol.startsWith('ws') ? WEBSOCKET_REDIRECT_RULE : REDIRECT_RULE;
	return `, a redirect to ${describeRedirectTarget(headers, url)}; ${rule}`;
}

/** The answer to a request that failed. What it causes stops whoever asked. There is none for what is no request. */
export function failedRequestResponse(
	{head: {id, method}, origin}: Envelope,
	name: string,
	{error, refusal}: {readonly error: BridgeError; readonly refusal?: HttpErrorReply},
): Envelope | undefined {
	if (id === undefined || method === undefined) return;
	// To be sent elsewhere is no answer that a client could do anything with.
	const isForwarded = refusal !== undefined && refusal.status >= 400;
	const from: MessageOrigin = {name, valve: origin.valve, ...(isForwarded ? {errorReply: refusal} : {})};
	return Envelope.errorResponse(id, error, from);
}
