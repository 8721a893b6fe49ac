import type {IncomingHttpHeaders} from 'node:http';
import {Envelope, type Headers, type Origin, type Refusal} from '../envelope.js';
import {BridgeError} from '../errors.js';

/** How much of the body of a refusal is passed on. */
export const MAX_REFUSAL_BYTES = 2 ** 16;

/** The headers of an answer, each as one text. */
export const plainHeaders = (headers: IncomingHttpHeaders): Headers =>
	Object.fromEntries(
		Object.entries(headers).flatMap(([name, value]) =>
			value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
		),
	);

/** What an upstream is to be told of that answered with a status instead of taking what it was asked. */
export function refusedBy(name: string, {status, headers}: Refusal): BridgeError {
	return new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		`${name} answered with HTTP status ${status}${whereTo(status, headers.location)}.`,
		status === 401 || status === 403
			? 'Give it the credentials that it asks for.'
			: 'Check its address, and what its own log says.',
		{status},
	);
}

/** Redirects are not followed: a person has to. Only the host is told, since the rest may hold secrets. */
function whereTo(status: number, location: string | undefined): string {
	if (status < 300 || status >= 400 || location === undefined) return '';
	const host = URL.canParse(location) ? new URL(location).host : 'another path';
	return `, which points to ${host}, and redirects are not followed`;
}

/** The answer to a request that was refused. What it causes stops whoever asked. Nothing for what is no request. */
export function refusalOf(
	{head: {id, method}, origin}: Envelope,
	error: BridgeError,
	name: string,
	refusal?: Refusal,
): Envelope | undefined {
	if (id === undefined || method === undefined) return;
	const from: Origin = {name, valve: origin.valve, ...(refusal ? {refusal} : {})};
	return Envelope.failure(id, error, from);
}
