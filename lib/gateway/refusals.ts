import type {Refused} from '../http/refuse.js';

export const unknownToken: Refused = {
	status: 401,
	message: 'Unauthorized: a token of this bridge is needed, in X-Bridge-Token',
	headers: {'www-authenticate': 'Bearer realm="bridge"'},
};

export const notAStream: Refused = {status: 406, message: 'Not Acceptable: a stream is text/event-stream'};

export const disabled = (name: string): Refused => ({
	status: 503,
	message: `${name} is disabled (enabled: false).`,
});

/** A client that asks what there is must not give up on bridge because of one service. */
export const disabledFor = (name: string, line: Buffer): Refused => ({
	...disabled(name),
	status: line.includes('"server/discover"') ? 400 : 503,
});
