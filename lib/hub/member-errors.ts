import {BridgeError} from '../errors.js';
import {worded} from '../protocol/json.js';
import {notInitialized} from '../protocol/not-initialized.js';

/** The server, which others use, too, has closed the connection. */
export const cutOff = (server: string): BridgeError =>
	new BridgeError('ERR_SESSION_CLOSED', `The connection to ${server} was closed.`, 'It is made again.');

/** The server rejected the handshake. */
export const unusable = (server: string, error: unknown): BridgeError =>
	new BridgeError('ERR_UPSTREAM_UNREACHABLE', worded(notInitialized(server, error).message), '');
