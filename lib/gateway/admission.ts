import type {IncomingMessage} from 'node:http';
import type {Duplex} from 'node:stream';
import {BridgeError} from '../core/errors.js';
import {setConnectionPrincipal} from '../http/connection-limiter.js';
import {drainingError, overloadedError, serviceDisabled, tokenRequired} from '../http/errors.js';
import type {HttpError} from '../http/http-error.js';
import type {Login} from '../http/login/login.js';
import type {Principal} from '../upstream/conversation.js';
import {bridgeTokenIn, isAnonymousPrincipal, tokenOfCookie} from '../upstream/principal.js';
import type {Service} from '../upstream/service.js';
import {FORWARDED_HEADER} from './cluster/forward-authentication.js';
import type {ServiceRequest} from './cluster/route-to-session.js';
import type {Gateway} from './gateway.js';
import {rateLimitError} from './rate-limited-endpoint.js';

/** Returns the token that a request proves, if tokens are required, or the error that rejects the request. */
export function authenticate(
	gateway: Gateway,
	login: Login,
	{req, res, service}: Pick<ServiceRequest, 'req' | 'res'> & {readonly service: Service | undefined},
): {readonly token: string | undefined} | {readonly error: HttpError} {
	const {guard} = gateway;
	const token = bridgeTokenIn(req, service, guard) ?? tokenOfCookie(req, login);
	if (token === undefined && guard.needsToken) return {error: tokenRequired};
	setConnectionPrincipal(req.socket, token ?? '');
	const error = countOpenRequest(gateway, req, token, res);
	return error ? {error} : {token};
}

/** Returns the error for a rejected upgrade request. WebSocket is the only supported protocol. */
export function validateUpgrade(
	gateway: Gateway,
	req: IncomingMessage,
	service: Service | undefined,
	socket: Duplex,
): HttpError | undefined {
	const rejection = gateway.guard.validate(req);
	if (rejection) return rejection;
	const token = bridgeTokenIn(req, service, gateway.guard);
	if (token === undefined && gateway.guard.needsToken) return tokenRequired;
	setConnectionPrincipal(socket, token ?? '');
	if (req.headers.upgrade?.toLowerCase() !== 'websocket') return {status: 400, message: 'Bad Request'};
	if (!service) return;
	if (!service.config.enabled) return serviceDisabled(service.config.name);
	// The quota is checked first, because making room for a session may evict another one.
	return countOpenRequest(gateway, req, token, socket) ?? sessionLimitError(gateway, token ?? '');
}

/**
 * Rejects requests that start something new while the gateway drains. If other replicas exist, stateless
 * requests are still served, since they leave no state behind. After a 5xx response to server/discover,
 * clients give up on the server for good, so it gets 400.
 */
export function rejectWhileDraining({headers}: IncomingMessage, isReplica: boolean): HttpError | undefined {
	const method = headers['mcp-method'];
	if (isReplica && method !== undefined) return;
	return method === 'server/discover' ? {...drainingError, status: 400} : drainingError;
}

/** Makes room for a new session, or returns the error if none can start. */
export function sessionLimitError({isDraining, sessions}: Gateway, token: string): HttpError | undefined {
	if (isDraining) return drainingError;
	try {
		sessions.ensureCapacity(token);
		return;
	} catch (error) {
		if (!(error instanceof BridgeError)) throw error;
		return overloadedError(error);
	}
}

/**
 * Counts an open request or stream of a principal until `closable` closes. Over the quota, rejects it and
 * closes its connection, to keep connections free for other clients.
 */
function countOpenRequest(
	{openQuotas}: Gateway,
	{headers}: IncomingMessage,
	token: string | undefined,
	closable: {once(event: 'close', listener: () => void): unknown},
): HttpError | undefined {
	if (!openQuotas.isEnabled) return;
	const quota = openQuotas.forToken(token ?? '');
	const limitError = quota.limitError();
	if (limitError) {
		const status = headers['mcp-method'] === 'server/discover' ? 400 : 503;
		return {...overloadedError(limitError), status, closesConnection: true};
	}
	quota.count++;
	closable.once('close', () => {
		quota.count--;
	});
	return;
}

/**
 * Returns the error for a rejected request to a service. The result is a promise only if the store has to
 * be queried.
 */
export function checkAdmission(
	gateway: Gateway,
	req: IncomingMessage,
	principal: Principal,
): HttpError | undefined | Promise<HttpError | undefined> {
	// A replica that did not renew its lease in time may have lost its sessions.
	const leaseCheck = gateway.replicas?.ensureLease();
	return leaseCheck !== undefined
		? leaseCheck.then(() => checkRate(gateway, req, principal))
		: checkRate(gateway, req, principal);
}

/** Applies the rate limit to POST requests. A forwarded request was counted by the first replica. */
function checkRate(
	gateway: Gateway,
	req: IncomingMessage,
	principal: Principal,
): HttpError | undefined | Promise<HttpError | undefined> {
	if (!gateway.rateLimiter.isEnabled || req.method !== 'POST') return;
	if (gateway.replicas && FORWARDED_HEADER in req.headers) return;
	const rateError = (waitMs: number): HttpError | undefined => {
		if (waitMs === 0) return;
		const isDiscovery = req.headers['mcp-method'] === 'server/discover';
		const headers = {'retry-after': String(Math.ceil(waitMs / 1000))};
		return {...overloadedError(rateLimitError(waitMs)), status: isDiscovery ? 400 : 429, headers};
	};
	const waitMs = gateway.rateLimiter.take(rateKeyOf(req, principal));
	return typeof waitMs === 'number' ? rateError(waitMs) : waitMs.then(rateError);
}

/** The key that requests are counted by. Anonymous requests are counted by address. */
export const rateKeyOf = ({socket}: IncomingMessage, principal: Principal): string =>
	isAnonymousPrincipal(principal) ? `at ${socket.remoteAddress}` : principal.id;
