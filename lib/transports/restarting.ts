import {Envelope, type Origin} from '../envelope.js';
import {BridgeError} from '../errors.js';

/** Why a request has no answer. What the server wrote to stderr may be about other clients, and is for the log alone. */
export const restarting = ({code, message, details}: BridgeError, pauseMs: number): BridgeError =>
	new BridgeError(
		code,
		message,
		`It is started again in ${pauseMs / 1000} s; ask again then, if asking twice does no harm.`,
		details,
	);

/** The response to a request for a server that cannot be started. Clients of HTTP also get a status. */
export function unstartable(id: string, error: BridgeError, origin: Origin): Envelope {
	const {bytes: body} = Envelope.failure(id, error);
	const refusal = {status: 503, headers: {'content-type': 'application/json'}, body};
	return Envelope.failure(id, error, {...origin, refusal});
}

export const ended = (name: string): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		`The connection to ${name} was closed.`,
		'bridge reconnects; retry the request then.',
	);

export const unopened = (name: string, error: unknown): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		`${name} could not be started: ${error instanceof Error ? error.message : String(error)}.`,
		'bridge starts it again; retry the request then.',
	);
