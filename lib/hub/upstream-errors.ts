import {BridgeError} from '../core/errors.js';
import {initializeError} from '../protocol/initialize-error.js';
import {messageOf} from '../run/program-error.js';
import {toText} from '../util/json.js';

/** The server, which others use, too, has closed the connection. */
export const sharedConnectionClosed = (server: string): BridgeError =>
	new BridgeError('ERR_SESSION_CLOSED', `The connection to ${server} was closed.`, 'It is made again.');

/** The server rejected the handshake. */
export const handshakeRejected = (server: string, error: unknown): BridgeError =>
	new BridgeError('ERR_UPSTREAM_UNREACHABLE', toText(initializeError(server, error).message), '');

/** Why a server failed, with the variables that its process did not get. */
export const failureReason = (error: unknown): string =>
	error instanceof BridgeError
		? [error.reason, error.details.withheld].filter(Boolean).join(' ')
		: messageOf(error);
