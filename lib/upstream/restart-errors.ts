import {Envelope, type MessageOrigin} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';

/**
 * The error of a request that was pending when the upstream disconnected. The evidence of a shared upstream
 * is omitted: its stderr may be about other clients.
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

/** The message and the fields of the log record of a disconnect. Without a delay, no restart is planned. */
export function disconnectRecord(
	upstream: string,
	{message, evidence}: BridgeError,
	delayMs: number | undefined,
): [message: string, fields: {readonly [name: string]: unknown}] {
	const plan = delayMs === undefined ? '' : ` bridge restarts it in ${delayMs / 1000} s.`;
	const restartFields = delayMs === undefined ? {} : {pauseMs: delayMs};
	return [`${message}${plan}`, {server: upstream, ...restartFields, ...(evidence === '' ? {} : {evidence})}];
}

/** The response to a request for an upstream that cannot be started. HTTP clients also get status 503. */
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

/** The error of an upstream that is not started because bridge is shutting down. */
export const shuttingDownError = (name: string): BridgeError =>
	new BridgeError(
		'ERR_SESSION_CLOSED',
		`bridge is shutting down and does not start ${name}.`,
		'Connect again when bridge has been restarted.',
	);
