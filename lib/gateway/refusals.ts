import type {BridgeError} from '../errors.js';
import type {Refused} from '../http/refuse.js';

export const unknownToken: Refused = {
	status: 401,
	message: 'Unauthorized: a token of this bridge is needed, in X-Bridge-Token',
	headers: {'www-authenticate': 'Bearer realm="bridge"'},
};

/** Names of services in one sentence. */
const MAX_NAMES = 20;

export function unknownService(services: ReadonlyMap<string, unknown>): Refused {
	const names = [...services.keys()].sort();
	const rest = names.length > MAX_NAMES ? [`${names.length - MAX_NAMES} more`] : [];
	const listed = [...names.slice(0, MAX_NAMES), ...rest].join(', ') || 'none';
	return {status: 404, message: `There is no such service. Services: ${listed}.`, facts: {services: names}};
}

export const notAStream: Refused = {
	status: 406,
	message: 'Not Acceptable: this is a stream of events. Send Accept: text/event-stream',
};

export const notAnAnswer: Refused = {
	status: 406,
	message: 'Not Acceptable: an answer is application/json or text/event-stream',
};

export const disabled = (name: string): Refused => ({
	status: 503,
	message: `${name} is disabled (enabled: false).`,
});

/** A client that asks what there is must not give up on bridge because of one service. */
export const disabledFor = (name: string, line: Buffer): Refused => ({
	...disabled(name),
	status: line.includes('"server/discover"') ? 400 : 503,
});

/** The service is not what it was when the head of the request came. */
export const another = (name: string): Refused => ({
	status: 503,
	message: `The configuration of ${name} has just changed. Try again.`,
	headers: {'retry-after': '1'},
});

/** What is too much now may be taken soon. */
export const overloaded = (error: BridgeError): Refused => {
	const {code, message, data} = error.toRpc();
	return {status: 503, code, message, facts: data, headers: {'retry-after': '1'}};
};

/** A request of which too much would be kept. */
export const tooLarge = (error: BridgeError, id: string | undefined): Refused => {
	const {code, message, data} = error.toRpc();
	return {status: 413, id, code, message, facts: data};
};

/** A request that says it was handed on, and was not by who shares the secret. */
export const noReplica: Refused = {status: 403, message: 'Forbidden: that is no replica of this bridge'};

/** What a client hears that wants to begin something when all is about to end. */
export const draining: Refused = {
	status: 503,
	code: -31005,
	message: 'bridge is about to end. Try again in a moment.',
	facts: {source: 'bridge', kind: 'closed'},
	headers: {'retry-after': '1'},
	isLast: true,
};
