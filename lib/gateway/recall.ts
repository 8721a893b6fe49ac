import {local} from '../envelope.js';
import type {Refused} from '../http/refuse.js';
import {MODERN} from '../protocol/version.js';
import {wholeMessage} from '../transports/whole-message.js';
import {whoseIs} from './caller.js';
import {isModernPost} from './modern-request.js';
import {type Asked, confirmed, lead, type Means} from './whereabouts.js';

/**
 * Leads who names no session to the one that it used last, as replicas remember it together; to `take` where they know of
 * none. Nothing is looked for, and nobody waits, unless this is such a client.
 */
export function leadBack(
	means: Means,
	asked: Asked & {readonly body: Buffer},
	take: () => undefined,
): Promise<() => Refused | undefined> | undefined {
	const {req, body, service, caller} = asked;
	const {lastSessions} = means.replicas;
	const whose = lastSessions && !('mcp-session-id' in req.headers) && whoseIs(req, service, caller);
	// Who names the version without sessions is not even read for that.
	if (!whose || req.headers['mcp-protocol-version'] === MODERN) return;
	const envelope = wholeMessage(body, local);
	const isFirst = envelope.head.flaw !== undefined || envelope.head.method === 'initialize';
	if (isFirst || isModernPost(envelope, req.headers)) return;
	return lastSessions.find(whose).then(async id => {
		if (id === undefined) return take;
		await confirmed(means, id, asked);
		return () => {
			// As if the client had sent this header.
			req.headers['mcp-session-id'] = id;
			return lead(means, id, asked, take);
		};
	});
}
