import type {IncomingMessage} from 'node:http';
import type {Guard} from '../http/guard.js';
import type {Login} from '../http/login/login.js';
import {shortKey} from '../util/short-key.js';
import {anonymousPrincipal, type Principal} from './conversation.js';
import type {Service} from './service.js';

/**
 * Returns the principal of a request. `token` is the gateway token that the request proves. It gives the same
 * principal as X-Bridge-Token, as a bearer token and as the cookie of a login.
 */
export function principalOf(
	{headers}: IncomingMessage,
	{config}: Service,
	token: string | undefined,
): Principal {
	const {authorization} = headers;
	const bridgeToken = token ?? headers['x-bridge-token'];
	if (authorization === undefined && bridgeToken === undefined) return anonymousPrincipal;
	const isBridgeToken = token !== undefined && !config.passAuthorization;
	return {
		authorization: config.passAuthorization ? authorization : undefined,
		id: shortKey(JSON.stringify([isBridgeToken ? undefined : authorization, bridgeToken])),
		token: token ?? '',
	};
}

export const bridgeTokenIn = (
	req: IncomingMessage,
	service: Service | undefined,
	guard: Guard,
): string | undefined => guard.tokenOf(req, service?.config.passAuthorization === false);

/** Returns the token of a browser's login. It becomes a header, since replicas do not get the cookie. */
export function tokenOfCookie(req: IncomingMessage, login: Login): string | undefined {
	const token = login.tokenOf(req);
	if (token !== undefined) req.headers['x-bridge-token'] = token;
	return token;
}

export const isAnonymousPrincipal = ({id}: Principal): boolean => id === anonymousPrincipal.id;
