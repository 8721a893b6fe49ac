import {BridgeError} from '../errors.js';
import {worded} from '../protocol/json.js';
import {notInitialized} from '../protocol/not-initialized.js';
import {messageOf} from '../run/program-error.js';

/** The server, which others use, too, has closed the connection. */
export const cutOff = (server: string): BridgeError =>
	new BridgeError('ERR_SESSION_CLOSED', `The connection to ${server} was closed.`, 'It is made again.');

/** The server rejected the handshake. */
export const unusable = (server: string, error: unknown): BridgeError =>
	new BridgeError('ERR_UPSTREAM_UNREACHABLE', worded(notInitialized(server, error).message), '');

/** Why a server failed, with the variables that its process did not get. */
export const causeOf = (error: unknown): string =>
	error instanceof BridgeError
		? [error.reason, error.details.withheld].filter(Boolean).join(' ')
		: messageOf(error);
