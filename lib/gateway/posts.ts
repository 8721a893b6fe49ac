import type {IncomingMessage, ServerResponse} from 'node:http';
import {type Envelope, type Headers, local} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {acceptedBy} from '../http/read-body.js';
import {internalError, type Refused, refuse} from '../http/refuse.js';
import {logBug} from '../log.js';
import {parameterHeaders, versionProblem} from '../protocol/http-hop.js';
import {keptProblem} from '../protocol/kept.js';
import {unknownState} from '../protocol/parked-calls.js';
import {tooComplex} from '../protocol/too-complex.js';
import {callerOf} from '../protocol/v2026-07-28.js';
import {MODERN} from '../protocol/version.js';
import type {Reachable} from '../replicas/passage.js';
import {shortKey} from '../short-key.js';
import {ModernPosts} from '../transports/http-modern.js';
import {HttpSession} from '../transports/http-server.js';
import type {Post} from '../transports/http-session-options.js';
import {wholeMessage} from '../transports/whole-message.js';
import {isAnswer} from '../wire/scan.js';
import {beginSession, type Ground, signAfter} from './begin-session.js';
import {isAnonymous, whoseIs} from './caller.js';
import {type Caller, Conversation} from './conversation.js';
import {parkedAt} from './elsewhere.js';
import {HeldBack} from './held-back.js';
import {isModernPost, modernProblem} from './modern-request.js';
import {overloaded, tooLarge} from './refusals.js';
import type {Service} from './service.js';
import type {Client, Held} from './sessions.js';

/** The ends of conversations that are spoken by POST. */
type PostClient = HttpSession | ModernPosts;

/** Requests of one session that may wait for an answer while its server takes no more. */
const MAX_HELD_BACK = 256;
/** Requests of one session that may wait for an answer. */
const MAX_UNANSWERED = 1024;

/** Finds, or begins, the conversation that a posted message belongs to. */
export class Posts {
	readonly #options: Ground;
	readonly #heldBack = new HeldBack();

	constructor(options: Ground) {
		this.#options = options;
	}

	/** Takes the message in the body of a POST. */
	take(req: IncomingMessage, response: ServerResponse, body: Buffer, service: Service, caller: Caller): void {
		const envelope = wholeMessage(body, local);
		const {authorization} = caller;
		const headers: Headers = {
			...(authorization === undefined ? {} : {authorization}),
			...(req.headers['mcp-method'] === undefined ? {} : parameterHeaders(req.headers)),
		};
		const post: Post = {envelope, headers, accepts: acceptedBy(req), response};
		try {
			const parked = this.#parkedAt(req, envelope, service, caller);
			if (parked && 'owner' in parked) {
				this.#passOn(req, response, body, service, parked.owner);
				return;
			}
			const found = this.#clientFor(req, envelope, service, caller, parked?.from);
			if (found instanceof HttpSession || found instanceof ModernPosts) found.post(post);
			else refuse(response, found);
		} catch (error) {
			if (error instanceof BridgeError) refuse(response, noRoomFor(envelope, error));
			else this.#failed(response, error);
		}
	}

	/** Where a call of a client without sessions waits, if this message comes back to one. */
	#parkedAt(
		req: IncomingMessage,
		envelope: Envelope,
		{config: {name: service}}: Service,
		{principal}: Caller,
	): ReturnType<typeof parkedAt> {
		const replicas = this.#options.replicas();
		return replicas && parkedAt(replicas, req, envelope, {service, principal});
	}

	/** Hands a message to the replica that has the call which it is about. */
	#passOn(req: IncomingMessage, res: ServerResponse, body: Buffer, service: Service, owner: Reachable): void {
		const {timeoutMs} = service.config;
		const unknown = (): Refused => ({status: 200, ...unknownState});
		void this.#options.replicas()?.forwarder.forward({req, res, owner, body, timeoutMs, unknown});
	}

	/** One message that nobody has foreseen is not the end of all sessions. */
	#failed(response: ServerResponse, error: unknown): void {
		logBug(this.#options.log, error);
		refuse(response, internalError);
	}

	#clientFor(
		req: IncomingMessage,
		envelope: Envelope,
		service: Service,
		caller: Caller,
		parkedFrom?: string,
	): PostClient | Refused {
		const {id, method} = envelope.head;
		const session = sessionIdOf(req);
		if (session instanceof Error) return {...severalIds, id};
		const flawed = flawIn(envelope, session);
		if (flawed) return flawed;
		if (session === undefined && isModernPost(envelope, req.headers)) {
			const problem = modernProblem(envelope, req.headers, service.parametersFor(caller.principal));
			return (
				problem ?? this.#within(this.#modern(envelope, service, caller, fromOf(req, parkedFrom)), envelope)
			);
		}
		const problem = versionProblem(headerText(req, 'mcp-protocol-version'));
		if (problem !== undefined) return {status: 400, id, code: -32600, message: problem};
		if (method === 'initialize') {
			// A session that begins without a response has no client that could name or end it.
			if (id === undefined) return {status: 400, code: -32600, message: 'initialize has no id. Send one.'};
			const whose = whoseIs(req, service, caller);
			return beginSession(this.#options, {service, caller, place: placeOf(req), whose});
		}
		const {sessions} = this.#options;
		const {name} = service.config;
		if (session !== undefined) {
			const held = sessions.find(session, name, caller.principal);
			const isKnown = held?.client instanceof HttpSession && !this.#isOver(held, envelope);
			return isKnown ? this.#within(held.client, envelope) : {...sessions.unknown(name), id};
		}
		const latest = this.#latest(req, service, caller);
		if (latest instanceof HttpSession) return this.#within(latest, envelope);
		return {status: 400, id, message: 'Bad Request: Server not initialized'};
	}

	/** Whether a session takes no more of this: in one that is about to end, what is under way is only brought to its end. */
	#isOver({conversation}: Held, {head: {id, method}}: Envelope): boolean {
		const isRequest = id !== undefined && method !== undefined;
		return isRequest && this.#options.isLeaving() && conversation.isFixed;
	}

	/** What a client means that does not name its session. Behind a balancer, all clients are in one place. */
	#latest(req: IncomingMessage, {config: {name}}: Service, caller: Caller): Client | undefined {
		const {sessions, replicas} = this.#options;
		const mayBeAnybody = replicas() !== undefined && isAnonymous(caller);
		return mayBeAnybody ? undefined : sessions.latest(name, caller.principal, placeOf(req))?.client;
	}

	/** A client that has asked more than it can be answered is told to come back. */
	#within(client: PostClient, {size}: Envelope): PostClient {
		const limit = client.isHeldBack ? MAX_HELD_BACK : MAX_UNANSWERED;
		if (client.unanswered >= limit)
			throw new BridgeError(
				'ERR_SESSION_BUSY',
				`${client.unanswered} requests of this session wait for an answer.`,
				'Wait for some of them before you send more.',
				{limit},
			);
		if (this.#heldBack.take(client, size)) return client;
		throw new BridgeError(
			'ERR_SESSION_BUSY',
			'The server takes no more at the moment, and much of this session waits for it.',
			'Try again when it has answered something.',
		);
	}

	/** Who shows the same credentials and is the same program has one conversation, however many of its requests there are. */
	#modern({body}: Envelope, service: Service, caller: Caller, place: string): ModernPosts {
		const {log, sessions, converse, pending} = this.#options;
		const {info, capabilities} = callerOf(body.params);
		// A server of that era hears from every request who asks, so one connection does for all that a caller can be.
		const who = service.lastSession?.upstream === MODERN ? [] : [info, capabilities];
		const id = shortKey(
			`modern ${service.config.name} ${place} ${JSON.stringify([...who, caller.principal])}`,
		);
		const known = sessions.find(id, service.config.name, caller.principal)?.client;
		if (known instanceof ModernPosts) return known;
		const client: ModernPosts = new ModernPosts({
			name: 'client',
			log,
			signAfterMs: method => signAfter(service, MODERN, method),
			onAbandoned: () => void sessions.end(held),
		});
		// No client that forgot its session is to be taken for one that has none.
		const conversation = new Conversation(service, caller, {
			newState: this.#newState(service, caller, place),
			tally: pending.of(caller.token),
		});
		const held = sessions.begin({id, client, conversation, place: `modern ${place}`}, client, converse);
		return client;
	}

	/** Among replicas, the word under which a client comes back to a call says where that is. */
	#newState(
		{config: {name: service}}: Service,
		{principal}: Caller,
		place: string,
	): (() => string) | undefined {
		const replicas = this.#options.replicas();
		return replicas && (() => replicas.ownId(place, {service, principal}));
	}
}

/** Rejects a message before a session begins, which might evict another one. */
function flawIn(envelope: Envelope, session: string | undefined): Refused | undefined {
	const {id, flaw} = envelope.head;
	if (session === undefined && flaw === 'not JSON')
		return {status: 400, code: -32700, message: 'Parse error: the body is not JSON'};
	// A response goes on, as an error: the upstream waits for it.
	if (flaw === 'too complex' && !isAnswer(envelope.head)) return tooLarge(tooComplex('The client'), id);
	if (session === undefined && flaw !== undefined && flaw !== 'a batch')
		return {status: 400, id, code: -32600, message: `Invalid Request: ${flaw}`};
	const problem = flaw === undefined ? keptProblem(envelope) : undefined;
	return problem && tooLarge(problem, id);
}

/** Where a client without sessions is; for a call that it comes back to, where it was then. */
const fromOf = (req: IncomingMessage, parkedFrom: string | undefined): string => parkedFrom ?? placeOf(req);

const headerText = ({headers}: IncomingMessage, name: string): string | undefined => {
	const value = headers[name];
	return Array.isArray(value) ? value.join(', ') : value;
};

/** The id of the session that a request names, if it does. Two of them are an error. */
export function sessionIdOf(req: IncomingMessage): string | undefined | Error {
	const id = headerText(req, 'mcp-session-id');
	if (id === undefined || !id.includes(',')) return id;
	const [first, ...others] = id.split(',').map(part => part.trim());
	return others.every(other => other === first) ? first : new Error('several session ids');
}

/** What is answered then. */
export const severalIds: Refused = {status: 400, message: 'Bad Request: several session ids'};

/** Where a client is: its address, and what it calls itself. */
export const placeOf = ({socket, headers}: IncomingMessage): string =>
	shortKey(`${socket.remoteAddress ?? ''} ${headers['user-agent'] ?? ''}`);

/** A client that asks what there is, and hears that there is no room, takes it for no server at all, for good. */
const noRoomFor = ({head: {id, method}}: Envelope, error: BridgeError): Refused => ({
	...overloaded(error),
	id,
	...(method === 'server/discover' ? {status: 400} : {}),
});
