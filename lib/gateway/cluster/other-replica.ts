import type {IncomingMessage} from 'node:http';
import type {Envelope} from '../../core/envelope.js';
import {memberText} from '../../wire/member.js';
import {FORWARDED_HEADER} from './forward-authentication.js';
import type {ReachableOwner} from './forwarded-request.js';
import type {Replicas} from './replicas.js';
import type {ServicePrincipal, SessionOwner} from './session-ids.js';

const REQUEST_STATE = ['params', 'requestState'] as const;

/** Where else a request goes. It goes from one replica to another, and no further. */
export function otherReplica(
	owner: SessionOwner,
	req: IncomingMessage,
): {readonly owner: ReachableOwner} | undefined {
	const {address} = owner;
	if (address === undefined || req.headers[FORWARDED_HEADER] !== undefined) return;
	return {owner: {...owner, address}};
}

/**
 * The replica that has the call which a client without sessions comes back to; or, if that is this one, where the client
 * was when it called.
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
