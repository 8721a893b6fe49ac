import type {IncomingMessage} from 'node:http';
import {BridgeError} from '../errors.js';
import type {Refused} from '../http/refuse.js';
import {FORWARDED} from '../replicas/hop.js';
import {isNobody} from './caller.js';
import type {Caller} from './conversation.js';
import type {Gateway} from './gateway.js';
import {tooOften} from './limited.js';
import {disabled, draining, overloaded, unknownToken} from './refusals.js';
import type {Service} from './service.js';

/** Why a client may not change to another protocol, of which WebSocket is the only one. */
export function upgradeProblem(
	gateway: Gateway,
	req: IncomingMessage,
	service: Service | undefined,
): Refused | undefined {
	const foreign = gateway.guard.refusal(req);
	if (foreign) return foreign;
	if (!gateway.guard.knows(req, service?.config.passAuthorization === false)) return unknownToken;
	if (req.headers.upgrade?.toLowerCase() !== 'websocket') return {status: 400, message: 'Bad Request'};
	if (!service) return;
	return service.config.enabled ? noRoom(gateway) : disabled(service.config.name);
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

/** Why nobody new is let in at present. */
export function noRoom({isDraining, sessions}: Gateway): Refused | undefined {
	if (isDraining) return draining;
	try {
		sessions.makeRoom();
		return;
	} catch (error) {
		if (!(error instanceof BridgeError)) throw error;
		return overloaded(error);
	}
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
	isNobody(caller) ? `at ${socket.remoteAddress}` : caller.principal;
