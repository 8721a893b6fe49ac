import type {IncomingMessage} from 'node:http';
import type {Duplex} from 'node:stream';
import {BridgeError} from '../errors.js';
import {attribute} from '../http/connections.js';
import type {Refused} from '../http/refuse.js';
import {FORWARDED} from '../replicas/hop.js';
import {isAnonymous, tokenIn, tokenOfCookie} from './caller.js';
import type {Caller} from './conversation.js';
import type {Gateway} from './gateway.js';
import {tooOften} from './limited.js';
import type {Login} from './login.js';
import {disabled, draining, overloaded, unknownToken} from './refusals.js';
import type {Service} from './service.js';
import type {Asked} from './whereabouts.js';

/** The token that a request proves, where one is needed; or why the request is rejected. */
export function enter(
	gateway: Gateway,
	login: Login,
	{req, res, service}: Pick<Asked, 'req' | 'res'> & {readonly service: Service | undefined},
): {readonly token: string | undefined} | {readonly refused: Refused} {
	const {guard} = gateway;
	const token = tokenIn(req, service, guard) ?? tokenOfCookie(req, login);
	if (token === undefined && guard.needsToken) return {refused: unknownToken};
	attribute(req.socket, token ?? '');
	const refused = openProblem(gateway, req, token, res);
	return refused ? {refused} : {token};
}

/** Why a client may not change to another protocol, of which WebSocket is the only one. */
export function upgradeProblem(
	gateway: Gateway,
	req: IncomingMessage,
	service: Service | undefined,
	socket: Duplex,
): Refused | undefined {
	const foreign = gateway.guard.refusal(req);
	if (foreign) return foreign;
	const token = tokenIn(req, service, gateway.guard);
	if (token === undefined && gateway.guard.needsToken) return unknownToken;
	attribute(socket, token ?? '');
	if (req.headers.upgrade?.toLowerCase() !== 'websocket') return {status: 400, message: 'Bad Request'};
	if (!service) return;
	if (!service.config.enabled) return disabled(service.config.name);
	// A client over its quota is rejected before room for it is made, which ends a session.
	return openProblem(gateway, req, token, socket) ?? noRoom(gateway, token ?? '');
}

/**
 * Why what begins anew, or needs no beginning, is not taken while a gateway drains. Who asks what there is must not take
 * its end for an answer about its era. As one of several, it still answers what leaves nothing behind.
 */
export function lastRefusal({headers}: IncomingMessage, isReplica: boolean): Refused | undefined {
	const method = headers['mcp-method'];
	if (isReplica && method !== undefined) return;
	return method === 'server/discover' ? {...draining, status: 400} : draining;
}

/** Why no new session can begin now. */
export function noRoom({isDraining, sessions}: Gateway, token: string): Refused | undefined {
	if (isDraining) return draining;
	try {
		sessions.makeRoom(token);
		return;
	} catch (error) {
		if (!(error instanceof BridgeError)) throw error;
		return overloaded(error);
	}
}

/**
 * Counts an open request or stream of a principal until `closes` closes. Over the quota, rejects it and closes its
 * connection, to keep connections free for other clients.
 */
function openProblem(
	{open}: Gateway,
	{headers}: IncomingMessage,
	token: string | undefined,
	closes: {once(event: 'close', listener: () => void): unknown},
): Refused | undefined {
	if (!open.areLimited) return;
	const tally = open.of(token ?? '');
	const problem = tally.problem();
	if (problem) {
		const status = headers['mcp-method'] === 'server/discover' ? 400 : 503;
		return {...overloaded(problem), status, isLast: true};
	}
	tally.count++;
	closes.once('close', () => {
		tally.count--;
	});
	return;
}

/** Why a request for a service is not taken now. Mostly it is known at once. */
export function admission(
	gateway: Gateway,
	req: IncomingMessage,
	caller: Caller,
): Refused | undefined | Promise<Refused | undefined> {
	// A replica that was silent for a while may have lost its sessions to others' belief.
	const doubt = gateway.replicas?.confirmed();
	return doubt !== undefined
		? doubt.then(() => rateRefusal(gateway, req, caller))
		: rateRefusal(gateway, req, caller);
}

/** What is posted counts, where it comes in first. */
function rateRefusal(
	gateway: Gateway,
	req: IncomingMessage,
	caller: Caller,
): Refused | undefined | Promise<Refused | undefined> {
	if (!gateway.rates.areLimited || req.method !== 'POST') return;
	if (gateway.replicas && FORWARDED in req.headers) return;
	const refusalFor = (waitMs: number): Refused | undefined => {
		if (waitMs === 0) return;
		const isDiscovery = req.headers['mcp-method'] === 'server/discover';
		const headers = {'retry-after': String(Math.ceil(waitMs / 1000))};
		return {...overloaded(tooOften(waitMs)), status: isDiscovery ? 400 : 429, headers};
	};
	const waitMs = gateway.rates.take(countedAs(req, caller));
	return typeof waitMs === 'number' ? refusalFor(waitMs) : waitMs.then(refusalFor);
}

/** Whose requests are counted together. Who shows nothing is known by its address alone. */
export const countedAs = ({socket}: IncomingMessage, caller: Caller): string =>
	isAnonymous(caller) ? `at ${socket.remoteAddress}` : caller.principal;
