import type {IncomingHttpHeaders} from 'node:http';
import {Envelope, type Headers} from '../../core/envelope.js';
import {SESSION_ID_CHANGED} from '../../core/upstream-control.js';
import {Valve} from '../../core/valve.js';
import {sessionIdIn} from './http-request.js';

/**
 * A notification of the session id in a response without a message; undefined if it is the id in the request.
 * The stateless era has no sessions.
 */
export function sessionIdNotification(
	name: string,
	received: IncomingHttpHeaders,
	requestHeaders: Headers,
): Envelope | undefined {
	const [session, sent] = [sessionIdIn(received), requestHeaders['mcp-session-id']];
	if (session === undefined || session === sent || requestHeaders['mcp-method'] !== undefined) return;
	const origin = {name, valve: new Valve(), headers: {'mcp-session-id': session}};
	return Envelope.of({jsonrpc: '2.0', method: SESSION_ID_CHANGED, params: {sent}}, origin);
}
