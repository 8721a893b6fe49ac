import type {IncomingMessage} from 'node:http';
import type {Envelope} from '../envelope.js';
import {FORWARDED} from '../replicas/hop.js';
import type {Reachable} from '../replicas/passage.js';
import type {Replicas} from '../replicas/replicas.js';
import type {Holder, Owner} from '../replicas/session-ids.js';
import {memberText} from '../wire/member.js';

const STATE = ['params', 'requestState'] as const;

/** Where else a request goes. It goes from one replica to another, and no further. */
export function elsewhere(owner: Owner, req: IncomingMessage): {readonly owner: Reachable} | undefined {
	const {address} = owner;
	if (address === undefined || req.headers[FORWARDED] !== undefined) return;
	return {owner: {...owner, address}};
}

/**
 * The replica that has the call which a client without sessions comes back to; or, if that is this one, where the client
 * was when it called.
 */
export function parkedAt(
	replicas: Replicas,
	req: IncomingMessage,
	{bytes}: Envelope,
	holder: Holder,
): {readonly owner: Reachable} | {readonly from: string} | undefined {
	const state = req.headers['mcp-method'] === undefined ? undefined : memberText(bytes, ...STATE);
	const named = state?.startsWith('"') ? replicas.read(JSON.parse(state), holder) : undefined;
	if (!named || !('instance' in named.place)) return;
	if (replicas.isSelf(named.place)) return {from: named.id};
	return elsewhere(named.place, req);
}
