import {BridgeError} from '../core/errors.js';
import {initializeError} from '../protocol/initialize-error.js';
import {messageOf} from '../run/program-error.js';
import {toText} from '../util/json.js';

/** The error for a shared upstream that has closed the connection. */
export const sharedConnectionClosed = (server: string): BridgeError =>
	new BridgeError(
		'ERR_SESSION_CLOSED',
		`The connection to ${server} was closed.`,
		'bridge reconnects automatically.',
	);

export const handshakeRejected = (server: string, error: unknown): BridgeError =>
	new BridgeError('ERR_UPSTREAM_UNREACHABLE', toText(initializeError(server, error).message), '');

/** The reason why an upstream failed, with the environment variables that were withheld from its process. */
export const failureReason = (error: unknown): string =>
	error instanceof BridgeError
		? [error.reason, error.details.withheld].filter(Boolean).join(' ')
		: messageOf(error);
