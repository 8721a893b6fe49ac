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
	/** The pending requests of each principal. */
	readonly pendingQuotas: RequestQuotas;
	/** The other gateways, where there are several. */
	readonly replicas: () => Replicas | undefined;
	/** Whether what only this one has is over, but for what is under way. */
	readonly isLeaving: () => boolean;
};

/** Who begins to talk to what, and from where. */
export type SessionParameters = {
	readonly service: Service;
	readonly principal: Principal;
	readonly clientKey: string;
	/** Which client it is to other replicas, if it can be told. */
	readonly clientIdentity?: ClientIdentity | undefined;
};

/** A session that another replica began. */
type ResumedSession = {readonly id: string; readonly portable: PortableState};

/** A server that may take longer than this is one whose clients are shown signs of life. */
const LONG_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_DELAY_MS = 25_000;
const PRIMING_DELAY_MS = 250;
/** Replicas number the streams of a session without asking each other: each begins somewhere else. */
const MAX_STREAM_OFFSET = 900_000_000;

/** Begins a session over streamable HTTP, or carries one on. */
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
			// What the id says of it holds for all that is done with it here.
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
			// No other replica can resume it.
			if (upstreamControl) upstreamControl.isEnded = true;
			void sessions.end(session);
		},
	});
	const session = sessions.start({id, client, conversation, clientKey}, client, startConversation);
	// Another replica may have resumed the session, and its client end it there.
	const unsubscribe = upstreamControl && replicas?.endedSessions.watch(id, () => void sessions.end(session));
	if (unsubscribe) void client.disconnected.then(unsubscribe);
	if (resumed) {
		conversation.negotiation.restore(resumed.portable, resumed.portable.hasTools);
		upstreamControl?.send(RESUMED_COMMAND);
	}
	return client;
}

const servicePrincipalOf = ({service, principal: caller}: Conversation) => ({
	service: service.config.name,
	principal: caller.id,
});

/** What another replica needs to carry a conversation on, by the answer that begins it; undefined if it cannot. */
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
 * After how long a client is to see that somebody is there. One that can take up a stream again is given the means to do so
 * soon when it calls a tool, unless its server may still answer with a status of its own.
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
