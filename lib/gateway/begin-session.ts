import {randomInt} from 'node:crypto';
import type {Envelope} from '../core/envelope.js';
import type {Log} from '../core/log.js';
import {
	createUpstreamControl,
	LISTEN_COMMAND,
	RESUMED_COMMAND,
	STOP_LISTENING_COMMAND,
} from '../core/upstream-control.js';
import {acceptsPrimingEvent} from '../protocol/http-headers.js';
import type {Version} from '../protocol/version.js';
import {HttpSession} from '../transports/http-server/http-session.js';
import {Conversation, type Principal, type StartConversation} from '../upstream/conversation.js';
import type {Service} from '../upstream/service.js';
import {objectOf} from '../util/json.js';
import {type ClientSessions, newSessionId} from './client-sessions.js';
import type {ClientIdentity} from './cluster/last-sessions.js';
import type {Replicas} from './cluster/replicas.js';
import type {PortableState} from './cluster/session-ids.js';
import type {RequestQuotas} from './request-quotas.js';

export type GatewayContext = {
	readonly log: Log;
	readonly sessions: ClientSessions;
	readonly startConversation: StartConversation;
	readonly pendingQuotas: RequestQuotas;
	/** The other replicas; undefined for a single gateway. */
	readonly replicas: () => Replicas | undefined;
	/** Whether this replica accepts no new requests in sessions that only it can serve. */
	readonly isLeaving: () => boolean;
};

export type SessionParameters = {
	readonly service: Service;
	readonly principal: Principal;
	readonly clientKey: string;
	/** Identifies the client across replicas. Undefined for anonymous clients. */
	readonly clientIdentity?: ClientIdentity | undefined;
};

type ResumedSession = {readonly id: string; readonly portable: PortableState};

/** Clients of services with a longer timeout get keep-alive events. */
const LONG_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_DELAY_MS = 25_000;
const PRIMING_DELAY_MS = 250;
/** Replicas number the streams of a session without coordination, so each starts at a random offset. */
const MAX_STREAM_OFFSET = 900_000_000;

/** Starts a session over streamable HTTP, or resumes one of another replica. */
export function beginSession(
	context: GatewayContext,
	{service, principal, clientKey, clientIdentity}: SessionParameters,
	resumed?: ResumedSession,
): HttpSession {
	const {log, sessions, startConversation} = context;
	const replicas = context.replicas();
	const upstreamControl =
		replicas && service.config.transport === 'http'
			? createUpstreamControl(resumed?.portable.session)
			: undefined;
	const conversation = new Conversation(service, principal, {
		upstreamControl,
		pendingQuota: context.pendingQuotas.forToken(principal.token),
	});
	const id = resumed?.id ?? newSessionId();
	const client: HttpSession = new HttpSession({
		name: 'client',
		log,
		streamDelayMs: method => keepAliveDelayMs(service, conversation.negotiation.clientVersion, method),
		id: response => {
			if (!replicas) return id;
			const portable = portableStateOf(conversation, response);
			const servicePrincipal = servicePrincipalOf(conversation);
			const portableId = portable && replicas.portableId(id, servicePrincipal, portable);
			// Without a portable id, no other replica can resume the session.
			if (upstreamControl && portableId === undefined) upstreamControl.isConnectionBound = true;
			const publicId = portableId ?? replicas.boundId(id, servicePrincipal);
			if (clientIdentity) replicas.lastSessions?.record(clientIdentity, publicId);
			return publicId;
		},
		streamsBefore: replicas && randomInt(MAX_STREAM_OFFSET),
		shared: replicas?.sharedEventsOf(id),
		upstream: upstreamControl,
		onListening:
			upstreamControl &&
			(isListening => upstreamControl.send(isListening ? LISTEN_COMMAND : STOP_LISTENING_COMMAND)),
		version: () => conversation.negotiation.clientVersion,
		requestIdOf: key => conversation.pendingRequests.idOf(key),
		onSessionRejected: () => void sessions.end(session),
		onUndelivered: () => {
			// The client never received the id, so no other replica can resume the session.
			if (upstreamControl) upstreamControl.isEnded = true;
			void sessions.end(session);
		},
	});
	const session = sessions.start({id, client, conversation, clientKey}, client, startConversation);
	// The client may end the session at another replica that has resumed it.
	const unsubscribe = upstreamControl && replicas?.endedSessions.watch(id, () => void sessions.end(session));
	if (unsubscribe) void client.disconnected.then(unsubscribe);
	if (resumed) {
		conversation.negotiation.restore(resumed.portable, resumed.portable.hasTools);
		upstreamControl?.send(RESUMED_COMMAND);
	}
	return client;
}

const servicePrincipalOf = ({service, principal}: Conversation) => ({
	service: service.config.name,
	principal: principal.id,
});

/** The state that another replica needs to resume a conversation; undefined if it cannot be resumed. */
function portableStateOf(
	{upstreamControl, negotiation}: Conversation,
	response: Envelope | undefined,
): PortableState | undefined {
	const negotiated = negotiation.snapshot();
	if (!negotiated || !response || !upstreamControl || upstreamControl.isConnectionBound) return;
	const {capabilities} = objectOf(response.body.result);
	return {...negotiated, hasTools: 'tools' in objectOf(capabilities), session: upstreamControl.session};
}

/**
 * The delay until a pending response becomes an event stream, in milliseconds; undefined for never. A tool
 * call gets a priming event early, so that its client can resume the stream. Upstreams behind HTTP are
 * excluded, since they may still respond with an HTTP error status.
 */
export function keepAliveDelayMs(
	{config: {timeoutMs, transport}}: Service,
	version: Version | undefined,
	method: string | undefined,
): number | undefined {
	if (method === 'tools/call' && acceptsPrimingEvent(version) && transport !== 'http')
		return PRIMING_DELAY_MS;
	return timeoutMs === 0 || timeoutMs > LONG_TIMEOUT_MS ? KEEP_ALIVE_DELAY_MS : undefined;
}
