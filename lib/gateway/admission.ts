import type {IncomingMessage} from 'node:http';
import {BridgeError} from '../errors.js';
import type {Refused} from '../http/refuse.js';
import type {Gateway} from './gateway.js';
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
