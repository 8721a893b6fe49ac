import {BridgeError} from '../errors.js';

/** Why a request has no answer. What the server wrote to stderr may be about other clients, and is for the log alone. */
export const restarting = ({code, message, details}: BridgeError, pauseMs: number): BridgeError =>
	new BridgeError(
		code,
		message,
		`It is started again in ${pauseMs / 1000} s; ask again then, if asking twice does no harm.`,
		details,
	);
