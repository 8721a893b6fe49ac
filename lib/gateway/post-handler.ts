import type {IncomingMessage, ServerResponse} from 'node:http';
import {bridgeOrigin, type Envelope, type Headers} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';
import {logBug} from '../core/log.js';
import {envelopeFromMessage} from '../core/whole-message.js';
import {messageTooLarge, overloadedError} from '../http/errors.js';
import {type HttpError, internalError, sendHttpError} from '../http/http-error.js';
import {parseAccept} from '../http/read-body.js';
import {unknownRequestState} from '../operators/stateless-client/parked-calls.js';
import {parameterHeaders, unsupportedVersionMessage} from '../protocol/http-headers.js';
import {retainedSizeError} from '../protocol/retained-size.js';
import {tooComplex} from '../protocol/too-complex.js';
import {requestMetaOf} from '../protocol/v2026-07-28.js';
import {STATELESS} from '../protocol/version.js';
import {HttpSession} from '../transports/http-server/http-session.js';
import type {HttpPost} from '../transports/http-server/http-session-options.js';
import {StatelessPosts} from '../transports/http-server/stateless-posts.js';
import {isStatelessPost, validateStatelessPost} from '../transports/http-server/stateless-request.js';
import {Conversation, type Principal} from '../upstream/conversation.js';
import {isAnonymousPrincipal} from '../upstream/principal.js';
import type {Service} from '../upstream/service.js';
import {shortKey} from '../util/short-key.js';
import {isResponse} from '../wire/scan.js';
import {BackpressureLimit} from './backpressure-limit.js';
import {beginSession, type GatewayContext, keepAliveDelayMs} from './begin-session.js';
import type {ClientSession, SessionClient} from './client-sessions.js';
import type {ReachableOwner} from './cluster/forwarded-request.js';
import {clientIdentityOf} from './cluster/last-sessions.js';
import {locateParkedCall} from './cluster/other-replica.js';

type PostClient = HttpSession | StatelessPosts;

/** A POST to a service, with its body. */
type PostRequest = {
	readonly req: IncomingMessage;
	readonly res: ServerResponse;
	readonly body: Buffer;
	readonly service: Service;
	readonly principal: Principal;
};

/** The limit of pending requests of one session while its upstream applies backpressure. */
const MAX_BACKPRESSURED = 256;
/** The limit of pending requests of one session. */
const MAX_PENDING = 1024;

/** Routes posted messages to their sessions, and starts sessions. */
export class PostHandler {
	readonly #options: GatewayContext;
	readonly #backpressureLimit = new BackpressureLimit();

	constructor(options: GatewayContext) {
		this.#options = options;
	}

	/** Handles a posted message of the session with this id, or without a session id. */
	handle(request: PostRequest, sessionId: ReturnType<typeof sessionIdOf>): void {
		const {req, res: response, body, service, principal} = request;
		const envelope = envelopeFromMessage(body, bridgeOrigin);
		const {authorization} = principal;
		const headers: Headers = {
			...(authorization === undefined ? {} : {authorization}),
			...(req.headers['mcp-method'] === undefined ? {} : parameterHeaders(req.headers)),
		};
		const post: HttpPost = {envelope, headers, accepts: parseAccept(req), response};
		try {
			const parkedCall = this.#locateParkedCall(req, envelope, service, principal);
			if (parkedCall && 'owner' in parkedCall) {
				this.#forward(req, response, body, service, parkedCall.owner);
				return;
			}
			const client = this.#findClient(request, sessionId, envelope, parkedCall?.from);
			if (client instanceof HttpSession || client instanceof StatelessPosts) client.post(post);
			else sendHttpError(response, client);
		} catch (error) {
			if (error instanceof BridgeError) sendHttpError(response, overloadedFor(envelope, error));
			else this.#reportBug(response, error);
		}
	}

	/** Finds the parked call that a stateless request continues, if there is one. */
	#locateParkedCall(
		req: IncomingMessage,
		envelope: Envelope,
		{config: {name: service}}: Service,
		{id: principal}: Principal,
	): ReturnType<typeof locateParkedCall> {
		const replicas = this.#options.replicas();
		return replicas && locateParkedCall(replicas, req, envelope, {service, principal});
	}

	#forward(
		req: IncomingMessage,
		res: ServerResponse,
		body: Buffer,
		service: Service,
		owner: ReachableOwner,
	): void {
		const {timeoutMs} = service.config;
		const ownerLostError = (): HttpError => ({status: 200, ...unknownRequestState});
		void this.#options.replicas()?.forwarder.forward({req, res, owner, body, timeoutMs, ownerLostError});
	}

	/** Logs an unexpected error. Only this request fails. */
	#reportBug(response: ServerResponse, error: unknown): void {
		logBug(this.#options.log, error);
		sendHttpError(response, internalError);
	}

	#findClient(
		{req, service, principal}: PostRequest,
		sessionId: ReturnType<typeof sessionIdOf>,
		envelope: Envelope,
		parkedClientKey?: string,
	): PostClient | HttpError {
		const {id, method} = envelope.head;
		if (sessionId instanceof Error) return {...multipleSessionIds, id};
		const rejection = rejectFlawed(envelope, sessionId);
		if (rejection) return rejection;
		if (sessionId === undefined && isStatelessPost(envelope, req.headers)) {
			const headerError = validateStatelessPost(
				envelope,
				req.headers,
				service.toolParametersFor(principal.id),
			);
			return (
				headerError ??
				this.#checkLimits(
					this.#statelessClient(envelope, service, principal, originalClientKey(req, parkedClientKey)),
					envelope,
				)
			);
		}
		const message = unsupportedVersionMessage(joinedHeader(req, 'mcp-protocol-version'));
		if (message !== undefined) return {status: 400, id, code: -32600, message};
		if (method === 'initialize') {
			// Without a response, the client would never receive the session id, and could not use or end the
			// session.
			if (id === undefined) return {status: 400, code: -32600, message: 'initialize has no id. Send one.'};
			const clientIdentity = clientIdentityOf(req, service, principal);
			return beginSession(this.#options, {service, principal, clientKey: clientKeyOf(req), clientIdentity});
		}
		const {sessions} = this.#options;
		const {name} = service.config;
		if (sessionId !== undefined) {
			const clientSession = sessions.find(sessionId, name, principal.id);
			const isKnown =
				clientSession?.client instanceof HttpSession && !this.#isClosedTo(clientSession, envelope);
			return isKnown
				? this.#checkLimits(clientSession.client, envelope)
				: {...sessions.notFoundError(name), id};
		}
		const latest = this.#latestClient(req, service, principal);
		if (latest instanceof HttpSession) return this.#checkLimits(latest, envelope);
		return {status: 400, id, message: 'Bad Request: Server not initialized'};
	}

	/**
	 * Whether a session rejects this message because the replica is leaving: only new requests are rejected.
	 */
	#isClosedTo({conversation}: ClientSession, {head: {id, method}}: Envelope): boolean {
		const isRequest = id !== undefined && method !== undefined;
		return isRequest && this.#options.isLeaving() && conversation.isReplicaBound;
	}

	/**
	 * Returns the most recent session of a client that omits the session id. Anonymous clients of replicas
	 * have none, since behind a load balancer they all share one address.
	 */
	#latestClient(
		req: IncomingMessage,
		{config: {name}}: Service,
		principal: Principal,
	): SessionClient | undefined {
		const {sessions, replicas} = this.#options;
		const isAmbiguous = replicas() !== undefined && isAnonymousPrincipal(principal);
		return isAmbiguous ? undefined : sessions.findLatest(name, principal.id, clientKeyOf(req))?.client;
	}

	/** Returns the client. Throws if it has too many pending requests, or too large a backlog. */
	#checkLimits(client: PostClient, {size}: Envelope): PostClient {
		const limit = client.isBackpressured ? MAX_BACKPRESSURED : MAX_PENDING;
		if (client.pendingCount >= limit)
			throw new BridgeError(
				'ERR_SESSION_BUSY',
				`${client.pendingCount} requests of this session are pending.`,
				'Wait for some responses before you send more.',
				{limit},
			);
		if (this.#backpressureLimit.reserve(client, size)) return client;
		throw new BridgeError(
			'ERR_SESSION_BUSY',
			'The server accepts no more data at the moment, and the backlog of this session is full.',
			'Try again after the server has sent some responses.',
		);
	}

	/**
	 * Returns the session of a stateless client. All requests with the same credentials from the same program
	 * share one.
	 */
	#statelessClient(
		{body}: Envelope,
		service: Service,
		principal: Principal,
		clientKey: string,
	): StatelessPosts {
		const {log, sessions, startConversation, pendingQuotas} = this.#options;
		const {info, capabilities} = requestMetaOf(body.params);
		// A stateless upstream gets the client's info with every request, so one connection serves all
		// clients of a principal.
		const identity = service.lastNegotiation?.upstreamVersion === STATELESS ? [] : [info, capabilities];
		const id = shortKey(
			`modern ${service.config.name} ${clientKey} ${JSON.stringify([...identity, principal.id])}`,
		);
		const existing = sessions.find(id, service.config.name, principal.id)?.client;
		if (existing instanceof StatelessPosts) return existing;
		const client: StatelessPosts = new StatelessPosts({
			name: 'client',
			log,
			streamDelayMs: method => keepAliveDelayMs(service, STATELESS, method),
			onAbandoned: () => void sessions.end(session),
		});
		const conversation = new Conversation(service, principal, {
			createRequestState: this.#requestStateFactory(service, principal, clientKey),
			pendingQuota: pendingQuotas.forToken(principal.token),
		});
		// With this prefix, a client that omits its session id is never routed to a stateless session.
		const session = sessions.start(
			{id, client, conversation, clientKey: `modern ${clientKey}`},
			client,
			startConversation,
		);
		return client;
	}

	/** Makes request states that contain the location of the parked call, if there are several replicas. */
	#requestStateFactory(
		{config: {name: service}}: Service,
		{id: principal}: Principal,
		clientKey: string,
	): (() => string) | undefined {
		const replicas = this.#options.replicas();
		return replicas && (() => replicas.boundId(clientKey, {service, principal}));
	}
}

/** Rejects a malformed message before it starts a session, which could evict another one. */
function rejectFlawed(envelope: Envelope, session: string | undefined): HttpError | undefined {
	const {id, flaw} = envelope.head;
	if (session === undefined && flaw === 'not JSON')
		return {status: 400, code: -32700, message: 'Parse error: the body is not JSON'};
	// A response is forwarded as an error, since the upstream waits for it.
	if (flaw === 'too complex' && !isResponse(envelope.head))
		return messageTooLarge(tooComplex('The client'), id);
	if (session === undefined && flaw !== undefined && flaw !== 'a batch')
		return {status: 400, id, code: -32600, message: `Invalid Request: ${flaw}`};
	const sizeError = flaw === undefined ? retainedSizeError(envelope) : undefined;
	return sizeError && messageTooLarge(sizeError, id);
}

/** The key of a stateless client; for a parked call, the key of its original request. */
const originalClientKey = (req: IncomingMessage, parkedClientKey: string | undefined): string =>
	parkedClientKey ?? clientKeyOf(req);

const joinedHeader = ({headers}: IncomingMessage, name: string): string | undefined => {
	const value = headers[name];
	return Array.isArray(value) ? value.join(', ') : value;
};

/** The session id of a request, if it has one. Different ids in one request are an error. */
export function sessionIdOf(req: IncomingMessage): string | undefined | Error {
	const id = joinedHeader(req, 'mcp-session-id');
	if (id === undefined || !id.includes(',')) return id;
	const [first, ...others] = id.split(',').map(part => part.trim());
	return others.every(other => other === first) ? first : new Error('several session ids');
}

export const multipleSessionIds: HttpError = {status: 400, message: 'Bad Request: several session ids'};

/** Identifies a client by its address and User-Agent. */
export const clientKeyOf = ({socket, headers}: IncomingMessage): string =>
	shortKey(`${socket.remoteAddress ?? ''} ${headers['user-agent'] ?? ''}`);

/**
 * The error for a message over a limit. After a 5xx response to server/discover, clients give up on the
 * server for good, so it gets 400.
 */
const overloadedFor = ({head: {id, method}}: Envelope, error: BridgeError): HttpError => ({
	...overloadedError(error),
	id,
	...(method === 'server/discover' ? {status: 400} : {}),
});
