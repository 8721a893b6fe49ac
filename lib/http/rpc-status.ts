import type {Envelope} from '../core/envelope.js';
import {objectOf} from '../util/json.js';

/** Returns the HTTP status of a response: 200 for all that comes from the upstream, including errors. */
export function httpStatusOf(response: Envelope): number {
	if (!response.head.hasError || response.original.isReceived) return 200;
	return statuses.get(objectOf(response.body.error).code) ?? 200;
}

const statuses = new Map<unknown, number>([
	[-32700, 400],
	[-32600, 400],
	[-31001, 502],
	[-31002, 504],
	[-31003, 503],
	[-31004, 502],
	[-31005, 502],
	[-31007, 413],
]);

/**
 * Like `httpStatusOf`, for stateless clients: their version requires HTTP errors for some JSON-RPC errors.
 */
export function statelessHttpStatus(method: string | undefined, response: Envelope): number {
	if (!response.head.hasError) return 200;
	const {code} = objectOf(response.body.error);
	if (code === -32601) return 404;
	if (badRequestCodes.includes(code)) return 400;
	// After a 5xx response to server/discover, clients give up on the server for good.
	return method === 'server/discover' ? 400 : httpStatusOf(response);
}

const badRequestCodes: readonly unknown[] = [-32020, -32021, -32022];
