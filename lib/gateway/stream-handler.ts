import type {IncomingMessage, ServerResponse} from 'node:http';
import type {Duplex} from 'node:stream';
import type {Headers} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';
import {logBug} from '../core/log.js';
import type {Endpoint} from '../core/stage.js';
import {type HttpError, sendHttpError} from '../http/http-error.js';
import {SseSession} from '../transports/sse/sse-session.js';
import {acceptWebSocket, webSocketEndpoint} from '../transports/websocket/websocket.js';
import {Conversation, type Principal} from '../upstream/conversation.js';
import type {Service} from '../upstream/service.js';
import type {GatewayContext} from './begin-session.js';
import type {BodyReader} from './body-reader.js';
import {newSessionId} from './client-sessions.js';
import {rateLimitedEndpoint} from './rate-limited-endpoint.js';
import {startOnFirstMessage} from './start-on-first-message.js';

/** The end of a conversation whose client stays connected for all of it. */
export class StreamClient {
	readonly endpoint: Endpoint;

	constructor(endpoint: Endpoint) {
		this.endpoint = endpoint;
	}

	/** It is there as long as its connection is. */
	readonly isInUse = true;

	async close(): Promise<void> {
		await this.endpoint.close();
	}
}

/** Clients that are spoken to over a connection that stays: HTTP+SSE of 2024-11-05, and WebSocket. */
export class StreamHandler {
	readonly #options: GatewayContext;

	constructor(options: GatewayContext) {
		this.#options = options;
	}

	/** A client begins to listen. */
	openSse(res: ServerResponse, service: Service, principal: Principal): void {
		const {log, replicas} = this.#options;
		const sessionId = newSessionId();
		const path = `${service.path}/message`;
		const servicePrincipal = {service: service.config.name, principal: principal.id};
		const id = replicas()?.boundId(sessionId, servicePrincipal) ?? sessionId;
		this.#start(sessionId, new SseSession(res, {name: 'client', path, log, id}), service, principal);
	}

	/** A client that listens says something. It is read when there is room for it. */
	receivePost(
		req: IncomingMessage,
		res: ServerResponse,
		id: string,
		{
			service,
			caller: principal,
			bodies,
		}: {readonly service: Service; readonly caller: Principal; readonly bodies: BodyReader},
	): HttpError | undefined {
		const listener = this.#findSse(id, service, principal);
		if (!(listener instanceof SseSession)) return listener;
		const problem = bodies.validateHeaders(req);
		if (problem) return problem;
		listener.valve.whenOpen(() =>
			bodies.read(req, res, (line, refused) => {
				if (!line) return sendHttpError(res, refused ?? {status: 400, message: 'Bad Request'});
				res.writeHead(202, {'content-length': 0}).end();
				listener.receive(line, authorizationHeaders(principal));
			}),
		);
		return;
	}

	/** The listener that a message is from. */
	#findSse(id: string, service: Service, principal: Principal): SseSession | HttpError {
		const {sessions} = this.#options;
		const {name} = service.config;
		const session = sessions.find(id, name, principal.id);
		const endpoint = session?.client instanceof StreamClient ? session.client.endpoint : undefined;
		if (endpoint instanceof SseSession) return endpoint;
		return sessions.notFoundError(name);
	}

	/** A client changes to WebSocket. */
	async upgradeToWebSocket(
		req: IncomingMessage,
		socket: Duplex,
		head: Buffer,
		{
			service,
			caller: principal,
			maxBytes,
			take,
		}: {
			readonly service: Service;
			readonly caller: Principal;
			readonly maxBytes: number;
			/** Counts a request, if that is done: how long until it may be asked; 0 if it may be. */
			readonly take: (() => number | Promise<number>) | undefined;
		},
	): Promise<void> {
		const accepted = await acceptWebSocket(req, socket, head, maxBytes);
		if (!accepted) return;
		const {log} = this.#options;
		const endpoint = webSocketEndpoint(accepted, {
			name: 'client',
			maxBytes,
			headers: authorizationHeaders(principal),
			log,
			tcpSocket: socket,
		});
		this.#start(newSessionId(), take ? rateLimitedEndpoint(endpoint, take) : endpoint, service, principal);
	}

	#start(id: string, endpoint: Endpoint, service: Service, principal: Principal): void {
		const {sessions, startConversation, log, pendingQuotas} = this.#options;
		const conversation = new Conversation(service, principal, {
			pendingQuota: pendingQuotas.forToken(principal.token),
		});
		const client = new StreamClient(endpoint);
		try {
			const startLater = startOnFirstMessage(startConversation, error => logBug(log, error));
			sessions.start({id, client, conversation, clientKey: 'stream'}, endpoint, startLater);
		} catch (error) {
			// There was room when the client was let in, but somebody else has taken it.
			void endpoint.close();
			if (!(error instanceof BridgeError)) throw error;
		}
	}
}

/** What a client came with that goes on to its server. */
const authorizationHeaders = ({authorization}: Principal): Headers =>
	authorization === undefined ? {} : {authorization};
