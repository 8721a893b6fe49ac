import {bridgeOrigin} from '../../core/envelope.js';
import {envelopeFromMessage} from '../../core/whole-message.js';
import type {HttpError} from '../../http/http-error.js';
import {STATELESS} from '../../protocol/version.js';
import {isStatelessPost} from '../../transports/http-server/stateless-request.js';
import {clientIdentityOf} from './last-sessions.js';
import {
	confirmNotEnded,
	type RoutingContext,
	routeToSession,
	type ServiceRequest,
} from './route-to-session.js';

/**
 * Routes a client that omits the session id to its most recent session, or calls `handleHere` if none is
 * known. Returns undefined at once for all other requests.
 */
export function routeToLastSession(
	context: RoutingContext,
	request: ServiceRequest & {readonly body: Buffer},
	handleHere: (sessionId: string | undefined) => undefined,
): Promise<() => HttpError | undefined> | undefined {
	const {req, body, service, principal} = request;
	const {lastSessions} = context.replicas;
	const clientIdentity = lastSessions && clientIdentityOf(req, service, principal);
	// A stateless client has no session, so its body is not parsed.
	if (!clientIdentity || req.headers['mcp-protocol-version'] === STATELESS) return;
	const envelope = envelopeFromMessage(body, bridgeOrigin);
	const startsSession = envelope.head.flaw !== undefined || envelope.head.method === 'initialize';
	if (startsSession || isStatelessPost(envelope, req.headers)) return;
	return lastSessions.find(clientIdentity).then(async id => {
		if (id === undefined) return () => handleHere(undefined);
		await confirmNotEnded(context, id, request);
		return () => routeToSession(context, id, {...request, lastSessionId: id}, handleHere);
	});
}
