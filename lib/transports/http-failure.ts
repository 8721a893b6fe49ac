import type {IncomingHttpHeaders} from 'node:http';
import {Envelope, type Headers, type Origin} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {objectOf} from '../protocol/json.js';
import {headerOf} from './http-exchange.js';

/** What a client is told of the headers of a refusal. */
const told = ['content-type', 'content-encoding', 'www-authenticate', 'retry-after', 'allow'] as const;

/** Whether nothing of a request can have reached its server. */
export const isUnheard = ({code}: NodeJS.ErrnoException): boolean => code === 'ECONNREFUSED';

/** Whom a redirect points to. Only the host, since the rest may hold secrets. */
export function redirectedTo(headers: IncomingHttpHeaders): string {
	const location = headerOf(headers, 'location') ?? '';
	return URL.canParse(location) ? new URL(location).host : 'another place';
}

/** Errors that a server without sessions tells by a status of HTTP, too. They are answers like any other. */
const toldByStatus: readonly unknown[] = [-32601, -32020, -32021, -32022];

/** The answer to a request that a server, or whoever stands before it, refused with a status: what it said, if it can be told. */
export function refusedWith(
	{name, id, isModern}: {readonly name: string; readonly id: string; readonly isModern: boolean},
	origin: Origin,
	{status, headers, body}: {status: number; headers: IncomingHttpHeaders; body: Buffer | undefined},
): Envelope {
	const failure = new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		`${name} answered with HTTP status ${status}.`,
		status === 401
			? 'Give it the credentials that it asks for.'
			: 'See what its own log says of the request.',
		{status},
	);
	const kept: {[name: string]: string} = {};
	for (const header of told) {
		const value = headerOf(headers, header);
		if (value !== undefined) kept[header] = value;
	}
	const refusal = body ? {status, headers: kept, body} : ownRefusal(id, status, kept, failure);
	const error = body && errorIn(body);
	if (isModern && toldByStatus.includes(objectOf(error).code))
		return Envelope.answer(id, 'error', error, origin).relayed(origin);
	const from = {...origin, refusal};
	return error === undefined
		? Envelope.failure(id, failure, from)
		: Envelope.answer(id, 'error', error, from);
}

/** In place of a body that is too long to be kept. */
function ownRefusal(id: string, status: number, headers: Headers, failure: BridgeError) {
	const {'content-encoding': _encoding, ...kept} = headers;
	const {bytes: body} = Envelope.failure(id, failure);
	return {status, headers: {...kept, 'content-type': 'application/json'}, body};
}

/** The error of JSON-RPC in the body of a refusal. */
function errorIn(body: Buffer): unknown {
	if (!body.toString('latin1', 0, 64).trimStart().startsWith('{')) return;
	try {
		const {error} = objectOf(JSON.parse(body.toString()));
		return error;
	} catch {
		return;
	}
}
