import {HttpSession} from '../transports/http-server.js';
import {SseServer} from '../transports/sse-server.js';
import type {Held} from './sessions.js';
import {StreamClient} from './streams.js';

/** Whether a session is one that its id says to be at this replica: other replicas know of it, and can only hand requests on. */
export function isOwned({client, conversation}: Held): boolean {
	if (client instanceof HttpSession) return conversation.isFixed;
	return client instanceof StreamClient && client.endpoint instanceof SseServer;
}
