import type {Envelope} from '../../core/envelope.js';
import {canonicalId} from '../../wire/id.js';
import {progressTokenKey} from '../../wire/progress-token-key.js';
import type {HttpReply} from './http-reply.js';

/** Notifications about the upstream as a whole, which are usually not related to a request. */
const listChangeMethods = /^notifications\/(?:tools|prompts|resources|roots)\//;

/**
 * Returns the reply whose stream a message is sent on, and whether that choice is certain.
 *
 * A message belongs to the request on whose stream it was received, or whose progress token it contains.
 * Otherwise the latest reply is chosen.
 */
export function chooseReply(
	envelope: Envelope,
	method: string,
	replies: readonly HttpReply[],
	requestIdOf: (key: string) => string | undefined,
): {readonly reply: HttpReply; readonly isCertain: boolean} | undefined {
	if (replies.length === 0) return;
	const {relatedRequestId} = envelope.origin;
	const id = relatedRequestId === undefined ? undefined : requestIdOf(canonicalId(relatedRequestId));
	const exact = id === undefined ? undefined : replies.find(({request}) => request.head.id === id);
	if (exact) return {reply: exact, isCertain: true};
	if (method === 'notifications/progress') {
		const key = progressTokenKey(envelope.bytes, 'params');
		const found = replies.find(({tokenKey}) => tokenKey === key);
		return found && {reply: found, isCertain: true};
	}
	const latest = replies.at(-1);
	return latest && {reply: latest, isCertain: !listChangeMethods.test(method)};
}
