import {HttpSession} from '../../transports/http-server/http-session.js';
import {SseSession} from '../../transports/sse/sse-session.js';
import type {ClientSession} from '../client-sessions.js';
import {StreamClient} from '../stream-handler.js';

/**
 * Whether the id of a session names this replica as its owner, so that other replicas can only forward its
 * requests.
 */
export function isOwnedSession({client, conversation}: ClientSession): boolean {
	if (client instanceof HttpSession) return conversation.isReplicaBound;
	return client instanceof StreamClient && client.endpoint instanceof SseSession;
}
