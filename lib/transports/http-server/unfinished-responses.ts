import {Envelope} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {exactId} from '../../wire/id.js';
import {memberText} from '../../wire/member.js';

/** The exact id of the request that a message gives up, if it does that. */
export function requestIdCancelledBy({head: {method}, bytes}: Envelope): string | undefined {
	const id = method === 'notifications/cancelled' ? memberText(bytes, 'params', 'requestId') : undefined;
	return id === undefined ? undefined : exactId(id);
}

/** The answer to a request that its client gave up, for where there has to be one. */
export const requestCancelledResponse = ({head: {id}}: Envelope): Envelope =>
	Envelope.errorResponse(
		id,
		new BridgeError(
			'ERR_REQUEST_CANCELLED',
			'The request was cancelled.',
			'Ask again, if it is needed after all.',
		),
	);

/** The answer to a request whose session has ended before there was one. */
export const sessionClosedResponse = ({head: {id}}: Envelope): Envelope =>
	Envelope.errorResponse(
		id,
		new BridgeError(
			'ERR_SESSION_CLOSED',
			'The session ended before the answer came.',
			'Begin a new one, and ask again unless it may have been done already.',
		),
	);
