import type {BridgeError} from '../core/errors.js';
import type {HttpError} from './http-error.js';

export const tokenRequired: HttpError = {
	status: 401,
	message: 'Unauthorized: send a token of this bridge in X-Bridge-Token',
	headers: {'www-authenticate': 'Bearer realm="bridge"'},
};

const MAX_NAMES = 20;

export function unknownService(services: ReadonlyMap<string, unknown>): HttpError {
	const names = [...services.keys()].sort();
	const rest = names.length > MAX_NAMES ? [`${names.length - MAX_NAMES} more`] : [];
	const listed = [...names.slice(0, MAX_NAMES), ...rest].join(', ') || 'none';
	return {status: 404, message: `There is no such service. Services: ${listed}.`, data: {services: names}};
}

export const notAcceptableStream: HttpError = {
	status: 406,
	message: 'Not Acceptable: the response is an event stream. Send Accept: text/event-stream',
};

export const notAcceptableResponse: HttpError = {
	status: 406,
	message: 'Not Acceptable: responses are application/json or text/event-stream',
};

export const serviceDisabled = (name: string): HttpError => ({
	status: 503,
	message: `${name} is disabled (enabled: false).`,
});

/** After a 5xx response to server/discover, clients give up on all of bridge for good, so it gets 400. */
export const serviceDisabledFor = (name: string, body: Buffer): HttpError => ({
	...serviceDisabled(name),
	status: body.includes('"server/discover"') ? 400 : 503,
});

/** The service was replaced after the head of the request had arrived. */
export const serviceChanged = (name: string): HttpError => ({
	status: 503,
	message: `The configuration of ${name} has just changed. Try again.`,
	headers: {'retry-after': '1'},
});

/** A temporary error: the client may retry soon. */
export const overloadedError = (error: BridgeError): HttpError => {
	const {code, message, data} = error.toRpc();
	return {status: 503, code, message, data, headers: {'retry-after': '1'}};
};

/** A message that would take too much memory while it is pending. */
export const messageTooLarge = (error: BridgeError, id: string | undefined): HttpError => {
	const {code, message, data} = error.toRpc();
	return {status: 413, id, code, message, data};
};

/** A request with a forwarding header that was not sealed with a shared secret. */
export const invalidForwarding: HttpError = {
	status: 403,
	message: 'Forbidden: the sender is not a replica of this bridge',
};

/** The reply to requests that start something new while bridge shuts down. */
export const drainingError: HttpError = {
	status: 503,
	code: -31005,
	message: 'bridge is shutting down. Try again in a moment.',
	data: {source: 'bridge', kind: 'closed'},
	headers: {'retry-after': '1'},
	closesConnection: true,
};
