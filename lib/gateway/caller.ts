import type {IncomingMessage} from 'node:http';
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

/** A caller that has shown nothing. */
const nobody: Caller = {authorization: undefined, principal: JSON.stringify([undefined, undefined])};
