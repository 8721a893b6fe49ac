import type {IncomingHttpHeaders} from 'node:http';
import {Envelope, type Origin, type Refusal} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {REDIRECT_RULE, redirectTarget, SOCKET_REDIRECT_RULE} from './redirect.js';

/** How much of the body of a refusal is passed on. */
export const MAX_REFUSAL_BYTES = 2 ** 16;
/** The headers of a refusal that a client is told. */
const told = ['content-type', 'www-authenticate', 'retry-after', 'allow'] as const;

/** That an upstream answered with a status instead of taking what it was asked: what it said, and what is said of it. */
export type Refused = {readonly refusal: Refusal; readonly error: BridgeError};

export function refused(
	{name, url}: {readonly name: string; readonly url: URL},
	{
		status,
		headers,
		body,
	}: {readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer},
): Refused {
	const kept = told.flatMap(header => {
		const value = headers[header];
		return value === undefined ? [] : [[header, String(value)] as const];
	});
	const error = new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		`${name} answered with HTTP status ${status}${whereTo(status, headers, url)}.`,
		status === 401 || status === 403
			? 'Give it the credentials that it asks for.'
			: 'Check its address, and what its own log says.',
		{status},
	);
	return {refusal: {status, headers: Object.fromEntries(kept), body}, error};
}

/** The target of a redirect that was not followed. */
function whereTo(status: number, headers: IncomingHttpHeaders, url: URL): string {
	if (status < 300 || status >= 400 || headers.location === undefined) return '';
	const rule = url.protocol.startsWith('ws') ? SOCKET_REDIRECT_RULE : REDIRECT_RULE;
	return `, a redirect to ${redirectTarget(headers, url)}; ${rule}`;
}

/** The answer to a request that failed. What it causes stops whoever asked. There is none for what is no request. */
export function failedRequest(
	{head: {id, method}, origin}: Envelope,
	name: string,
	{error, refusal}: {readonly error: BridgeError; readonly refusal?: Refusal},
): Envelope | undefined {
	if (id === undefined || method === undefined) return;
	// To be sent elsewhere is no answer that a client could do anything with.
	const isTold = refusal !== undefined && refusal.status >= 400;
	const from: Origin = {name, valve: origin.valve, ...(isTold ? {refusal} : {})};
	return Envelope.failure(id, error, from);
}
