import type {IncomingHttpHeaders} from 'node:http';
import {Envelope, type Headers, type Origin} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {objectOf} from '../protocol/json.js';
import {headerOf} from './http-exchange.js';

/** What a client is told of the headers of a refusal. */
const told = ['content-type', 'content-encoding', 'www-authenticate', 'retry-after', 'allow'] as const;

/** Whether nothing of a request can have reached its server. */
export const isUnheard = ({code}: NodeJS.ErrnoException): boolean => code === 'ECONNREFUSED';

/** Errors that a server without sessions tells by a status of HTTP, too. They are answers like any other. */
const toldByStatus: readonly unknown[] = [-32601, -32020, -32021, -32022];

/** The answer to a request that a server, or whoever stands before it, refused with a status: what it said, if it can be told. */
export function refusedWith(
	{name, request, isModern}: {readonly name: string; readonly request: Envelope; readonly isModern: boolean},
	origin: Origin,
	{status, headers, body}: {status: number; headers: IncomingHttpHeaders; body: Buffer | undefined},
): Envelope {
	const {id = 'null', method} = request.head;
	const failure = new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		`${name} answered with HTTP status ${status}.`,
		remedyFor(status, method === 'initialize'),
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

function remedyFor(status: number, isFirst: boolean): string {
	if (status === 401) return 'Give it the credentials that it asks for.';
	return isFirst && (status === 404 || status === 405)
		? 'Check that the URL is that of an MCP server.'
		: 'Look for the request in its own log.';
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
