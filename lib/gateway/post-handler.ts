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

/** The ends of conversations that are spoken by POST. */
type PostClient = HttpSession | StatelessPosts;

/** Requests of one session that may wait for an answer while its server takes no more. */
const MAX_BACKPRESSURED = 256;
/** Requests of one session that may wait for an answer. */
const MAX_PENDING = 1024;

/** Finds, or begins, the conversation that a posted message belongs to. */
export class PostHandler {
	readonly #options: GatewayContext;
	readonly #backpressureLimit = new BackpressureLimit();

	constructor(options: GatewayContext) {
		this.#options = options;
	}

	/** Takes the message in the body of a POST. */
	handle(
		req: IncomingMessage,
		response: ServerResponse,
		body: Buffer,
		service: Service,
		principal: Principal,
	): void {
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
			const client = this.#findClient(req, envelope, service, principal, parkedCall?.from);
			if (client instanceof HttpSession || client instanceof StatelessPosts) client.post(post);
			else sendHttpError(response, client);
		} catch (error) {
			if (error instanceof BridgeError) sendHttpError(response, overloadedFor(envelope, error));
			else this.#reportBug(response, error);
		}
	}

	/** Where a call of a client without sessions waits, if this message comes back to one. */
	#locateParkedCall(
		req: IncomingMessage,
		envelope: Envelope,
		{config: {name: service}}: Service,
		{id: principal}: Principal,
	): ReturnType<typeof locateParkedCall> {
		const replicas = this.#options.replicas();
		return replicas && locateParkedCall(replicas, req, envelope, {service, principal});
	}

	/** Hands a message to the replica that has the call which it is about. */
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

	/** One message that nobody has foreseen is not the end of all sessions. */
	#reportBug(response: ServerResponse, error: unknown): void {
		logBug(this.#options.log, error);
		sendHttpError(response, internalError);
	}

	#findClient(
		req: IncomingMessage,
		envelope: Envelope,
		service: Service,
		principal: Principal,
		parkedClientKey?: string,
	): PostClient | HttpError {
		const {id, method} = envelope.head;
		const sessionId = sessionIdOf(req);
		if (sessionId instanceof Error) return {...multipleSessionIds, id};
		const rejection = rejectFlawed(envelope, sessionId);
		if (rejection) return rejection;
		if (sessionId === undefined && isStatelessPost(envelope, req.headers)) {
			const problem = validateStatelessPost(envelope, req.headers, service.toolParametersFor(principal.id));
			return (
				problem ??
				this.#checkLimits(
					this.#statelessClient(envelope, service, principal, originalClientKey(req, parkedClientKey)),
					envelope,
				)
			);
		}
		const problem = unsupportedVersionMessage(joinedHeader(req, 'mcp-protocol-version'));
		if (problem !== undefined) return {status: 400, id, code: -32600, message: problem};
		if (method === 'initialize') {
			// A session that begins without a response has no client that could name or end it.
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

	/** Whether a session takes no more of this: in one that is about to end, what is under way is only brought to its end. */
	#isClosedTo({conversation}: ClientSession, {head: {id, method}}: Envelope): boolean {
		const isRequest = id !== undefined && method !== undefined;
		return isRequest && this.#options.isLeaving() && conversation.isReplicaBound;
	}

	/** What a client means that does not name its session. Behind a balancer, all clients are in one place. */
	#latestClient(
		req: IncomingMessage,
		{config: {name}}: Service,
		principal: Principal,
	): SessionClient | undefined {
		const {sessions, replicas} = this.#options;
		const isAmbiguous = replicas() !== undefined && isAnonymousPrincipal(principal);
		return isAmbiguous ? undefined : sessions.findLatest(name, principal.id, clientKeyOf(req))?.client;
	}

	/** A client that has asked more than it can be answered is told to come back. */
	#checkLimits(client: PostClient, {size}: Envelope): PostClient {
		const limit = client.isBackpressured ? MAX_BACKPRESSURED : MAX_PENDING;
		if (client.pendingCount >= limit)
			throw new BridgeError(
				'ERR_SESSION_BUSY',
				`${client.pendingCount} requests of this session wait for an answer.`,
				'Wait for some of them before you send more.',
				{limit},
			);
		if (this.#backpressureLimit.reserve(client, size)) return client;
		throw new BridgeError(
			'ERR_SESSION_BUSY',
			'The server takes no more at the moment, and much of this session waits for it.',
			'Try again when it has answered something.',
		);
	}

	/** Who shows the same credentials and is the same program has one conversation, however many of its requests there are. */
	#statelessClient(
		{body}: Envelope,
		service: Service,
		principal: Principal,
		clientKey: string,
	): StatelessPosts {
		const {log, sessions, startConversation, pendingQuotas} = this.#options;
		const {info, capabilities} = requestMetaOf(body.params);
		// A server of that era hears from every request who asks, so one connection does for all that a caller can be.
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
		// No client that forgot its session is to be taken for one that has none.
		const conversation = new Conversation(service, principal, {
			createRequestState: this.#requestStateFactory(service, principal, clientKey),
			pendingQuota: pendingQuotas.forToken(principal.token),
		});
		const session = sessions.start(
			{id, client, conversation, clientKey: `modern ${clientKey}`},
			client,
			startConversation,
		);
		return client;
	}

	/** Among replicas, the word under which a client comes back to a call says where that is. */
	#requestStateFactory(
		{config: {name: service}}: Service,
		{id: principal}: Principal,
		clientKey: string,
	): (() => string) | undefined {
		const replicas = this.#options.replicas();
		return replicas && (() => replicas.boundId(clientKey, {service, principal}));
	}
}

/** Rejects a message before a session begins, which might evict another one. */
function rejectFlawed(envelope: Envelope, session: string | undefined): HttpError | undefined {
	const {id, flaw} = envelope.head;
	if (session === undefined && flaw === 'not JSON')
		return {status: 400, code: -32700, message: 'Parse error: the body is not JSON'};
	// A response goes on, as an error: the upstream waits for it.
	if (flaw === 'too complex' && !isResponse(envelope.head))
		return messageTooLarge(tooComplex('The client'), id);
	if (session === undefined && flaw !== undefined && flaw !== 'a batch')
		return {status: 400, id, code: -32600, message: `Invalid Request: ${flaw}`};
	const problem = flaw === undefined ? retainedSizeError(envelope) : undefined;
	return problem && messageTooLarge(problem, id);
}

/** Where a client without sessions is; for a call that it comes back to, where it was then. */
const originalClientKey = (req: IncomingMessage, parkedClientKey: string | undefined): string =>
	parkedClientKey ?? clientKeyOf(req);

const joinedHeader = ({headers}: IncomingMessage, name: string): string | undefined => {
	const value = headers[name];
	return Array.isArray(value) ? value.join(', ') : value;
};

/** The id of the session that a request names, if it does. Two of them are an error. */
export function sessionIdOf(req: IncomingMessage): string | undefined | Error {
	const id = joinedHeader(req, 'mcp-session-id');
	if (id === undefined || !id.includes(',')) return id;
	const [first, ...others] = id.split(',').map(part => part.trim());
	return others.every(other => other === first) ? first : new Error('several session ids');
}

/** What is answered then. */
export const multipleSessionIds: HttpError = {status: 400, message: 'Bad Request: several session ids'};

/** Where a client is: its address, and what it calls itself. */
export const clientKeyOf = ({socket, headers}: IncomingMessage): string =>
	shortKey(`${socket.remoteAddress ?? ''} ${headers['user-agent'] ?? ''}`);

/** A client that asks what there is, and hears that there is no room, takes it for no server at all, for good. */
const overloadedFor = ({head: {id, method}}: Envelope, error: BridgeError): HttpError => ({
	...overloadedError(error),
	id,
	...(method === 'server/discover' ? {status: 400} : {}),
});
