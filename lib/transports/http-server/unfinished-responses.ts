import {Envelope} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {exactId} from '../../wire/id.js';
import {memberText} from '../../wire/member.js';

/** The exact id of the request that a message cancels; undefined for other messages. */
export function requestIdCancelledBy({head: {method}, bytes}: Envelope): string | undefined {
	const id = method === 'notifications/cancelled' ? memberText(bytes, 'params', 'requestId') : undefined;
	return id === undefined ? undefined : exactId(id);
}

/** The response to a request that its client has cancelled, for transports that require one. */
export const requestCancelledResponse = ({head: {id}}: Envelope): Envelope =>
	Envelope.errorResponse(
		id,
		new BridgeError(
			'ERR_REQUEST_CANCELLED',
			'The request was cancelled.',
			'Send the request again if its result is still needed.',
		),
	);

export const sessionClosedResponse = ({head: {id}}: Envelope): Envelope =>
	Envelope.errorResponse(
		id,
		new BridgeError(
			'ERR_SESSION_CLOSED',
			'The session ended before the response arrived.',
			'Start a new session. Send the request again if it may run twice.',
		),
	);
