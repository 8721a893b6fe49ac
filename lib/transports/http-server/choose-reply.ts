import type {Envelope} from '../../core/envelope.js';
import {canonicalId} from '../../wire/id.js';
import {progressTokenKey} from '../../wire/progress-token-key.js';
import type {HttpReply} from './http-reply.js';

/** Things that a server says about itself, rather than in the course of a request. */
const listChangeMethods = /^notifications\/(?:tools|prompts|resources|roots)\//;

/**
 * The reply on whose stream a message belongs, and whether that is certain or only likely: what a server says is about
 * the request on whose stream it came, or whose token it names; where neither tells, the latest is the likeliest.
 */
export function chooseReply(
	envelope: Envelope,
	method: string,
	replies: readonly HttpReply[],
	requestIdOf: (key: string) => string | undefined,
): {readonly reply: HttpReply; readonly isCertain: boolean} | undefined {
	if (replies.length === 0) return;
	const {relatedRequestId: within} = envelope.origin;
	const id = within === undefined ? undefined : requestIdOf(canonicalId(within));
	const exact = id === undefined ? undefined : replies.find(({request}) => request.head.id === id);
	if (exact) return {reply: exact, isCertain: true};
	if (method === 'notifications/progress') {
		const key = progressTokenKey(envelope.bytes, 'params');
		const found = replies.find(({tokenKey: token}) => token === key);
		return found && {reply: found, isCertain: true};
	}
	const latest = replies.at(-1);
	return latest && {reply: latest, isCertain: !listChangeMethods.test(method)};
}
