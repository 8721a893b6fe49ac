import type {Envelope} from '../envelope.js';
import {canonicalId} from '../wire/id.js';
import type {HttpReply} from './http-reply.js';
import {tokenKey} from './token-key.js';

/** Things that a server says about itself, rather than in the course of a request. */
const general = /^notifications\/(?:tools|prompts|resources|roots)\//;

/**
 * The reply on whose stream a message belongs, and whether that is certain or only likely: what a server says is about
 * the request on whose stream it came, or whose token it names; where neither tells, the latest is the likeliest.
 */
export function streamFor(
	envelope: Envelope,
	method: string,
	replies: readonly HttpReply[],
	idOf: (key: string) => string | undefined,
): {readonly reply: HttpReply; readonly isCertain: boolean} | undefined {
	if (replies.length === 0) return;
	const {within} = envelope.origin;
	const id = within === undefined ? undefined : idOf(canonicalId(within));
	const told = id === undefined ? undefined : replies.find(({request}) => request.head.id === id);
	if (told) return {reply: told, isCertain: true};
	if (method === 'notifications/progress') {
		const key = tokenKey(envelope.bytes, 'params');
		const found = replies.find(({token}) => token === key);
		return found && {reply: found, isCertain: true};
	}
	const latest = replies.at(-1);
	return latest && {reply: latest, isCertain: !general.test(method)};
}
