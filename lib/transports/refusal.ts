import type {IncomingHttpHeaders} from 'node:http';
import {Envelope, type Origin, type Refusal} from '../envelope.js';
import {BridgeError} from '../errors.js';

/** How much of the body of a refusal is passed on. */
export const MAX_REFUSAL_BYTES = 2 ** 16;
/** The headers of a refusal that a client is told. */
const told = ['content-type', 'www-authenticate', 'retry-after', 'allow'] as const;

/** That an upstream answered with a status instead of taking what it was asked: what it said, and what is said of it. */
export type Refused = {readonly refusal: Refusal; readonly error: BridgeError};

export function refused(name: string, status: number, headers: IncomingHttpHeaders, body: Buffer): Refused {
	const kept = told.flatMap(header => {
		const value = headers[header];
		return value === undefined ? [] : [[header, String(value)] as const];
	});
	const error = new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		`${name} answered with HTTP status ${status}${whereTo(status, headers.location)}.`,
		status === 401 || status === 403
			? 'Give it the credentials that it asks for.'
			: 'Check its address, and what its own log says.',
		{status},
	);
	return {refusal: {status, headers: Object.fromEntries(kept), body}, error};
}

/** Redirects are not followed: a person has to. Only the host is told, since the rest may hold secrets. */
function whereTo(status: number, location: string | undefined): string {
	if (status < 300 || status >= 400 || location === undefined) return '';
	const host = URL.canParse(location) ? new URL(location).host : 'another path';
	return `, which points to ${host}, and redirects are not followed`;
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
