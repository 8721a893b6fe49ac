import type {IncomingMessage} from 'node:http';
import type {Guard} from '../http/guard.js';
import type {Whose} from '../replicas/last-sessions.js';
import {shortKey} from '../short-key.js';
import type {Caller} from './conversation.js';
import type {Login} from './login.js';
import type {Service} from './service.js';

/**
 * The caller of a request. `token` is the gateway's token that the request proves, whether in X-Bridge-Token, as a bearer
 * token or by the cookie of a login: all three are the same principal.
 */
export function callerOf({headers}: IncomingMessage, {config}: Service, token: string | undefined): Caller {
	const {authorization} = headers;
	const own = token ?? headers['x-bridge-token'];
	if (authorization === undefined && own === undefined) return anonymous;
	const isToken = token !== undefined && !config.passAuthorization;
	return {
		authorization: config.passAuthorization ? authorization : undefined,
		principal: shortKey(JSON.stringify([isToken ? undefined : authorization, own])),
		token: token ?? '',
	};
}

/** The gateway's token in the headers of a request. */
export const tokenIn = (
	req: IncomingMessage,
	service: Service | undefined,
	guard: Guard,
): string | undefined => guard.tokenOf(req, service?.config.passAuthorization === false);

/** The token that a browser logged in with. Other replicas get it instead of the cookie, which is not forwarded. */
export function tokenOfCookie(req: IncomingMessage, login: Login): string | undefined {
	const token = login.tokenOf(req);
	if (token !== undefined) req.headers['x-bridge-token'] = token;
	return token;
}

/** Whether a caller has shown nothing that tells it from others. */
export const isAnonymous = ({principal}: Caller): boolean => principal === anonymous.principal;

/**
 * Which client asks for what, as far as one can be told from another behind a balancer, where all have the same address.
 * One that shows nothing could be anybody.
 */
export function whoseIs({headers}: IncomingMessage, {config}: Service, caller: Caller): Whose | undefined {
	if (isAnonymous(caller)) return;
	return {service: config.name, principal: caller.principal, place: shortKey(headers['user-agent'] ?? '')};
}

/** A caller without credentials. */
export const anonymous: Caller = {
	authorization: undefined,
	principal: JSON.stringify([undefined, undefined]),
	token: '',
};
