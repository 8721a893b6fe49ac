import {Envelope, type MessageOrigin} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';

/**
 * Why a request has no answer, where the upstream is restarted. Only an upstream of one client shows its evidence: the stderr of
 * a shared one may be about other clients.
 */
export const restartingError = (
	{code, message, details, evidence}: BridgeError,
	delayMs: number,
	isShared: boolean,
): BridgeError =>
	new BridgeError(
		code,
		message,
		`bridge restarts it in ${delayMs / 1000} s. Retry the request then, if it is safe to repeat.`,
		details,
		isShared ? '' : evidence,
	);

/** The message and the fields of the log record of a loss; without a pause, no restart is planned. */
export function disconnectRecord(
	upstream: string,
	{message, evidence}: BridgeError,
	delayMs: number | undefined,
): [message: string, fields: {readonly [name: string]: unknown}] {
	const plan = delayMs === undefined ? '' : ` bridge restarts it in ${delayMs / 1000} s.`;
	const planned = delayMs === undefined ? {} : {pauseMs: delayMs};
	return [`${message}${plan}`, {server: upstream, ...planned, ...(evidence === '' ? {} : {evidence})}];
}

/** The response to a request for a server that cannot be started. Clients of HTTP also get a status. */
export function startFailedResponse(id: string, error: BridgeError, origin: MessageOrigin): Envelope {
	const {bytes: body} = Envelope.errorResponse(id, error);
	const errorReply = {status: 503, headers: {'content-type': 'application/json'}, body};
	return Envelope.errorResponse(id, error, {...origin, errorReply});
}

export const connectionClosedError = (name: string): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		`The connection to ${name} was closed.`,
		'Check that it runs, then connect again.',
	);

export const startFailedError = (name: string, error: unknown): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		`${name} could not be started: ${error instanceof Error ? error.message : String(error)}.`,
		'Fix the cause, then connect again.',
	);

/** The error of an upstream that is not started because bridge is about to end. */
export const shuttingDownError = (name: string): BridgeError =>
	new BridgeError(
		'ERR_SESSION_CLOSED',
		`bridge is shutting down and does not start ${name} any more.`,
		'Connect again when bridge has been restarted.',
	);
