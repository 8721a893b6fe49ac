import {objectOf} from '../../util/json.js';
import type {MailMessage} from './types.js';

/** The answer to the lead's request to shut down, in the words of the request. */
export function shutdownApproval({text}: MailMessage, identity: string, at: Date): string {
	const {requestId, request_id} = objectOf(JSON.parse(text));
	return JSON.stringify({
		type: 'shutdown_approved',
		...(requestId === undefined ? {} : {requestId}),
		...(request_id === undefined ? {} : {request_id}),
		from: identity,
		timestamp: at.toISOString(),
	});
}
