import {HttpSession} from '../../transports/http-server/http-session.js';
import {SseSession} from '../../transports/sse/sse-session.js';
import type {ClientSession} from '../client-sessions.js';
import {StreamClient} from '../stream-handler.js';

/** Whether a session is one that its id says to be at this replica: other replicas know of it, and can only hand requests on. */
export function isOwnedSession({client, conversation}: ClientSession): boolean {
	if (client instanceof HttpSession) return conversation.isReplicaBound;
	return client instanceof StreamClient && client.endpoint instanceof SseSession;
}
