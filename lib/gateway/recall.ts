import {bridgeOrigin} from '../envelope.js';
import type {HttpError} from '../http/refuse.js';
import {STATELESS} from '../protocol/version.js';
import {envelopeFromMessage} from '../transports/whole-message.js';
import {clientIdentityOf} from './caller.js';
import {isStatelessPost} from './modern-request.js';
import {confirmNotEnded, type RoutingContext, routeToSession, type ServiceRequest} from './whereabouts.js';

/**
 * Leads who names no session to the one that it used last, as replicas remember it together; to `take` where they know of
 * none. Nothing is looked for, and nobody waits, unless this is such a client.
 */
export function routeToLastSession(
	context: RoutingContext,
	request: ServiceRequest & {readonly body: Buffer},
	handleHere: () => undefined,
): Promise<() => HttpError | undefined> | undefined {
	const {req, body, service, principal} = request;
	const {lastSessions} = context.replicas;
	const clientIdentity =
		lastSessions && !('mcp-session-id' in req.headers) && clientIdentityOf(req, service, principal);
	// Who names the version without sessions is not even read for that.
	if (!clientIdentity || req.headers['mcp-protocol-version'] === STATELESS) return;
	const envelope = envelopeFromMessage(body, bridgeOrigin);
	const startsSession = envelope.head.flaw !== undefined || envelope.head.method === 'initialize';
	if (startsSession || isStatelessPost(envelope, req.headers)) return;
	return lastSessions.find(clientIdentity).then(async id => {
		if (id === undefined) return handleHere;
		await confirmNotEnded(context, id, request);
		return () => {
			// As if the client had sent this header.
			req.headers['mcp-session-id'] = id;
			return routeToSession(context, id, request, handleHere);
		};
	});
}
