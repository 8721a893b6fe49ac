import type {IncomingMessage} from 'node:http';
import type {Whose} from '../replicas/last-sessions.js';
import type {Caller} from './conversation.js';
import type {Service} from './service.js';

/** Who asks, by what the request shows. */
export function callerOf({headers}: IncomingMessage, {config}: Service): Caller {
	const {authorization} = headers;
	const token = headers['x-bridge-token'];
	if (authorization === undefined && token === undefined) return nobody;
	return {
		authorization: config.passAuthorization ? authorization : undefined,
		principal: JSON.stringify([authorization, token]),
	};
}

/** Whether a caller has shown nothing that tells it from others. */
export const isNobody = ({principal}: Caller): boolean => principal === nobody.principal;

/**
 * Which client asks for what, as far as one can be told from another behind a balancer, where all have the same address.
 * One that shows nothing could be anybody.
 */
export function whoseIs({headers}: IncomingMessage, {config}: Service, caller: Caller): Whose | undefined {
	if (isNobody(caller)) return;
	return {service: config.name, principal: caller.principal, place: headers['user-agent'] ?? ''};
}

/** A caller that has shown nothing. */
const nobody: Caller = {authorization: undefined, principal: JSON.stringify([undefined, undefined])};
