import type {BridgeError} from '../core/errors.js';
import type {HttpError} from './http-error.js';

export const tokenRequired: HttpError = {
	status: 401,
	message: 'Unauthorized: a token of this bridge is needed, in X-Bridge-Token',
	headers: {'www-authenticate': 'Bearer realm="bridge"'},
};

/** Names of services in one sentence. */
const MAX_NAMES = 20;

export function unknownService(services: ReadonlyMap<string, unknown>): HttpError {
	const names = [...services.keys()].sort();
	const rest = names.length > MAX_NAMES ? [`${names.length - MAX_NAMES} more`] : [];
	const listed = [...names.slice(0, MAX_NAMES), ...rest].join(', ') || 'none';
	return {status: 404, message: `There is no such service. Services: ${listed}.`, data: {services: names}};
}

export const notAcceptableStream: HttpError = {
	status: 406,
	message: 'Not Acceptable: this is a stream of events. Send Accept: text/event-stream',
};

export const notAcceptableResponse: HttpError = {
	status: 406,
	message: 'Not Acceptable: an answer is application/json or text/event-stream',
};

export const serviceDisabled = (name: string): HttpError => ({
	status: 503,
	message: `${name} is disabled (enabled: false).`,
});

/** A client that asks what there is must not give up on bridge because of one service. */
export const serviceDisabledFor = (name: string, body: Buffer): HttpError => ({
	...serviceDisabled(name),
	status: body.includes('"server/discover"') ? 400 : 503,
});

/** The service is not what it was when the head of the request came. */
export const serviceChanged = (name: string): HttpError => ({
	status: 503,
	message: `The configuration of ${name} has just changed. Try again.`,
	headers: {'retry-after': '1'},
});

/** What is too much now may be taken soon. */
export const overloadedError = (error: BridgeError): HttpError => {
	const {code, message, data} = error.toRpc();
	return {status: 503, code, message, data: data, headers: {'retry-after': '1'}};
};

/** A request of which too much would be kept. */
export const messageTooLarge = (error: BridgeError, id: string | undefined): HttpError => {
	const {code, message, data} = error.toRpc();
	return {status: 413, id, code, message, data: data};
};

/** A request that says it was handed on, and was not by who shares the secret. */
export const invalidForwarding: HttpError = {
	status: 403,
	message: 'Forbidden: that is no replica of this bridge',
};

/** What a client hears that wants to begin something when all is about to end. */
export const drainingError: HttpError = {
	status: 503,
	code: -31005,
	message: 'bridge is about to end. Try again in a moment.',
	data: {source: 'bridge', kind: 'closed'},
	headers: {'retry-after': '1'},
	closesConnection: true,
};
