import type {IncomingMessage} from 'node:http';
import type {Envelope} from '../../core/envelope.js';
import {memberText} from '../../wire/member.js';
import {FORWARDED_HEADER} from './forward-authentication.js';
import type {ReachableOwner} from './forwarded-request.js';
import type {Replicas} from './replicas.js';
import type {ServicePrincipal, SessionOwner} from './session-ids.js';

const REQUEST_STATE = ['params', 'requestState'] as const;

/**
 * Returns the owner to forward a request to. Undefined for a request that was already forwarded, and for an
 * owner without an address.
 */
export function otherReplica(
	owner: SessionOwner,
	req: IncomingMessage,
): {readonly owner: ReachableOwner} | undefined {
	const {address} = owner;
	if (address === undefined || req.headers[FORWARDED_HEADER] !== undefined) return;
	return {owner: {...owner, address}};
}

/**
 * Finds the owner of the parked call that a stateless request continues. If it is this replica, returns the
 * client key of the original request.
 */
export function locateParkedCall(
	replicas: Replicas,
	req: IncomingMessage,
	{bytes}: Envelope,
	servicePrincipal: ServicePrincipal,
): {readonly owner: ReachableOwner} | {readonly from: string} | undefined {
	const state = req.headers['mcp-method'] === undefined ? undefined : memberText(bytes, ...REQUEST_STATE);
	const payload = state?.startsWith('"')
		? replicas.readSessionId(JSON.parse(state), servicePrincipal)
		: undefined;
	if (!payload || !('instance' in payload.place)) return;
	if (replicas.isSelf(payload.place)) return {from: payload.id};
	return otherReplica(payload.place, req);
}
