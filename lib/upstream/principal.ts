import type {IncomingMessage} from 'node:http';
import type {Guard} from '../http/guard.js';
import type {Login} from '../http/login/login.js';
import {shortKey} from '../util/short-key.js';
import {anonymousPrincipal, type Principal} from './conversation.js';
import type {Service} from './service.js';

/**
 * The caller of a request. `token` is the gateway's token that the request proves, whether in X-Bridge-Token, as a bearer
 * token or by the cookie of a login: all three are the same principal.
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

/** The gateway's token in the headers of a request. */
export const bridgeTokenIn = (
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
export const isAnonymousPrincipal = ({id: principal}: Principal): boolean =>
	principal === anonymousPrincipal.id;
