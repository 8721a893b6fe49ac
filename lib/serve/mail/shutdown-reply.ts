import {objectOf} from '../../util/json.js';
import type {MailMessage} from './types.js';

/** The reply to a shutdown request of the lead. It repeats the request id under the same key. */
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
