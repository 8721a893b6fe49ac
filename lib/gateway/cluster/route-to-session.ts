import type {IncomingMessage, ServerResponse} from 'node:http';
import {bridgeOrigin} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {envelopeFromMessage} from '../../core/whole-message.js';
import {overloadedError} from '../../http/errors.js';
import {type HttpError, sendHttpError} from '../../http/http-error.js';
import type {Principal} from '../../upstream/conversation.js';
import type {Service} from '../../upstream/service.js';
import {beginSession, type GatewayContext, type SessionParameters} from '../begin-session.js';
import type {BodyReader} from '../body-reader.js';
import {clientKeyOf} from '../post-handler.js';
import type {ForwardOptions, ReachableOwner} from './forwarded-request.js';
import {clientIdentityOf} from './last-sessions.js';
import {otherReplica} from './other-replica.js';
import type {Replicas} from './replicas.js';

/** The id that no session has. */
const NO_SESSION = '';

/**
 * The location of a session: here, under its internal id; at another replica; or an error if it cannot be
 * resumed.
 */
type SessionLocation =
	| {readonly here: string}
	| {readonly owner: ReachableOwner}
	| {readonly error: HttpError};

/** Locates the session with a public id, and resumes it here if possible. */
function locateSession(
	{context, replicas}: RoutingContext,
	publicId: string,
	req: IncomingMessage,
	parameters: SessionParameters,
): SessionLocation {
	const {service, principal} = parameters;
	const servicePrincipal = {service: service.config.name, principal: principal.id};
	const payload = replicas.readSessionId(publicId, servicePrincipal);
	if (!payload) return {here: NO_SESSION};
	const {id, place} = payload;
	if ('instance' in place) {
		if (replicas.isSelf(place)) return {here: id};
		return otherReplica(place, req) ?? {here: NO_SESSION};
	}
	if (replicas.endedSessions.has(id)) return {here: NO_SESSION};
	if (context.sessions.find(id, servicePrincipal.service, servicePrincipal.principal)) return {here: id};
	if (service.config.transport !== 'http') return {here: NO_SESSION};
	try {
		beginSession(context, parameters, {id, portable: place});
		replicas.resumedCount++;
		return {here: id};
	} catch (error) {
		if (!(error instanceof BridgeError)) throw error;
		return {error: overloadedError(error)};
	}
}

/**
 * Looks up whether the session with this id was ended at another replica, before it is resumed here. Returns
 * undefined if there is no need to wait.
 */
export function confirmNotEnded(
	{replicas, context}: {readonly replicas: Replicas; readonly context: GatewayContext},
	publicId: string,
	{service, principal: {id: principal}}: {readonly service: Service; readonly principal: Principal},
): Promise<void> | undefined {
	const servicePrincipal = {service: service.config.name, principal};
	const payload = replicas.readSessionId(publicId, servicePrincipal);
	if (!payload || 'instance' in payload.place) return;
	if (context.sessions.find(payload.id, servicePrincipal.service, servicePrincipal.principal)) return;
	return replicas.endedSessions.confirm(payload.id);
}

export type RoutingContext = {
	readonly context: GatewayContext;
	readonly replicas: Replicas;
	readonly bodies: BodyReader;
};

/** A request to a service, with its body if that was already read. */
export type ServiceRequest = {
	readonly req: IncomingMessage;
	readonly res: ServerResponse;
	readonly service: Service;
	readonly principal: Principal;
	readonly body?: Buffer;
	/** The id of the most recent session of a client that omits the header. */
	readonly lastSessionId?: string;
};

/**
 * Routes a request to the session with a public id: forwards it to another replica, or calls `handleHere`
 * with the internal id. An `initialize` starts a new session, so it is never forwarded.
 */
export function routeToSession(
	context: RoutingContext,
	publicId: string,
	request: ServiceRequest,
	handleHere: (here: string | undefined, body?: Buffer) => HttpError | undefined,
): HttpError | undefined {
	const {req, service, principal} = request;
	const location = locateSession(context, publicId, req, {service, principal, clientKey: clientKeyOf(req)});
	if ('error' in location) return location.error;
	if ('owner' in location)
		return forwardToOwner(context, location.owner, request, body => {
			if (publicId !== req.headers['mcp-session-id'] || !isInitialize(body)) return false;
			const error = handleHere(undefined, body);
			if (error) sendHttpError(request.res, error);
			return true;
		});
	const {lastSessions} = context.replicas;
	const clientIdentity = lastSessions && clientIdentityOf(req, service, principal);
	if (clientIdentity && req.method === 'DELETE') void lastSessions.remove(clientIdentity, publicId);
	else if (clientIdentity && location.here !== NO_SESSION) lastSessions.record(clientIdentity, publicId);
	return handleHere(location.here);
}

/** Like `routeToSession`, after a lookup whether the session was ended at another replica. */
export function confirmAndRoute(
	...[context, publicId, request, handleHere]: Parameters<typeof routeToSession>
): HttpError | undefined | Promise<() => HttpError | undefined> {
	const route = (): HttpError | undefined => routeToSession(context, publicId, request, handleHere);
	const confirmation = confirmNotEnded(context, publicId, request);
	return confirmation === undefined ? route() : confirmation.then(() => route);
}

const isInitialize = (body: Buffer): boolean =>
	envelopeFromMessage(body, bridgeOrigin).head.method === 'initialize';

/** Forwards a request to the replica that owns its session, unless `handledHere` returns true. */
function forwardToOwner(
	{replicas: {forwarder}, bodies, context: {sessions}}: RoutingContext,
	owner: ReachableOwner,
	{req, res, service, body: knownBody, lastSessionId}: ServiceRequest,
	handledHere: (body: Buffer) => boolean,
): HttpError | undefined {
	const {name, timeoutMs} = service.config;
	const common: ForwardOptions = {
		req,
		res,
		owner,
		timeoutMs,
		ownerLostError: () => sessions.notFoundError(name),
		...(lastSessionId === undefined ? {} : {sessionId: lastSessionId}),
	};
	if (req.method !== 'POST') return void forwarder.forward(common);
	if (knownBody) return void forwarder.forward({...common, body: knownBody});
	const headerError = bodies.validateHeaders(req);
	if (headerError) return headerError;
	bodies.read(req, res, (body, error) => {
		if (!body) sendHttpError(res, error ?? {status: 400, message: 'Bad Request'});
		else if (!handledHere(body)) void forwarder.forward({...common, body});
	});
	return;
}
