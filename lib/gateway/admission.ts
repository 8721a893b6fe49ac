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

/** The token that a request proves, where one is needed; or why the request is rejected. */
export function authenticate(
	gateway: Gateway,
	login: Login,
	{req, res, service}: Pick<ServiceRequest, 'req' | 'res'> & {readonly service: Service | undefined},
): {readonly token: string | undefined} | {readonly refused: HttpError} {
	const {guard} = gateway;
	const token = bridgeTokenIn(req, service, guard) ?? tokenOfCookie(req, login);
	if (token === undefined && guard.needsToken) return {refused: tokenRequired};
	setConnectionPrincipal(req.socket, token ?? '');
	const refused = countOpenRequest(gateway, req, token, res);
	return refused ? {refused} : {token};
}

/** Why a client may not change to another protocol, of which WebSocket is the only one. */
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
	// A client over its quota is rejected before room for it is made, which ends a session.
	return countOpenRequest(gateway, req, token, socket) ?? sessionLimitError(gateway, token ?? '');
}

/**
 * Why what begins anew, or needs no beginning, is not taken while a gateway drains. Who asks what there is must not take
 * its end for an answer about its era. As one of several, it still answers what leaves nothing behind.
 */
export function rejectWhileDraining({headers}: IncomingMessage, isReplica: boolean): HttpError | undefined {
	const method = headers['mcp-method'];
	if (isReplica && method !== undefined) return;
	return method === 'server/discover' ? {...drainingError, status: 400} : drainingError;
}

/** Why no new session can begin now. */
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
 * Counts an open request or stream of a principal until `closes` closes. Over the quota, rejects it and closes its
 * connection, to keep connections free for other clients.
 */
function countOpenRequest(
	{openQuotas: open}: Gateway,
	{headers}: IncomingMessage,
	token: string | undefined,
	closable: {once(event: 'close', listener: () => void): unknown},
): HttpError | undefined {
	if (!open.isEnabled) return;
	const quota = open.forToken(token ?? '');
	const problem = quota.limitError();
	if (problem) {
		const status = headers['mcp-method'] === 'server/discover' ? 400 : 503;
		return {...overloadedError(problem), status, closesConnection: true};
	}
	quota.count++;
	closable.once('close', () => {
		quota.count--;
	});
	return;
}

/** Why a request for a service is not taken now. Mostly it is known at once. */
export function checkAdmission(
	gateway: Gateway,
	req: IncomingMessage,
	principal: Principal,
): HttpError | undefined | Promise<HttpError | undefined> {
	// A replica that was silent for a while may have lost its sessions to others' belief.
	const leaseCheck = gateway.replicas?.ensureLease();
	return leaseCheck !== undefined
		? leaseCheck.then(() => checkRate(gateway, req, principal))
		: checkRate(gateway, req, principal);
}

/** What is posted counts, where it comes in first. */
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

/** Whose requests are counted together. Who shows nothing is known by its address alone. */
export const rateKeyOf = ({socket}: IncomingMessage, principal: Principal): string =>
	isAnonymousPrincipal(principal) ? `at ${socket.remoteAddress}` : principal.id;
