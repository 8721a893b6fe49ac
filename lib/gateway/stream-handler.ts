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

export class StreamClient {
	readonly endpoint: Endpoint;

	constructor(endpoint: Endpoint) {
		this.endpoint = endpoint;
	}

	/** The session ends with the connection, so it is never idle. */
	readonly isInUse = true;

	async close(): Promise<void> {
		await this.endpoint.close();
	}
}

/** Serves clients with a persistent connection: HTTP+SSE of 2024-11-05, and WebSocket. */
export class StreamHandler {
	readonly #options: GatewayContext;

	constructor(options: GatewayContext) {
		this.#options = options;
	}

	openSse(res: ServerResponse, service: Service, principal: Principal): void {
		const {log, replicas} = this.#options;
		const sessionId = newSessionId();
		const path = `${service.path}/message`;
		const servicePrincipal = {service: service.config.name, principal: principal.id};
		const id = replicas()?.boundId(sessionId, servicePrincipal) ?? sessionId;
		this.#start(sessionId, new SseSession(res, {name: 'client', path, log, id}), service, principal);
	}

	/** Receives a message of an HTTP+SSE client. Its body is read when backpressure allows. */
	receivePost(
		req: IncomingMessage,
		res: ServerResponse,
		id: string,
		{
			service,
			principal,
			bodies,
		}: {readonly service: Service; readonly principal: Principal; readonly bodies: BodyReader},
	): HttpError | undefined {
		const session = this.#findSse(id, service, principal);
		if (!(session instanceof SseSession)) return session;
		const headerError = bodies.validateHeaders(req);
		if (headerError) return headerError;
		session.valve.whenOpen(() =>
			bodies.read(req, res, (line, error) => {
				if (!line) return sendHttpError(res, error ?? {status: 400, message: 'Bad Request'});
				res.writeHead(202, {'content-length': 0}).end();
				session.receive(line, authorizationHeaders(principal));
			}),
		);
		return;
	}

	#findSse(id: string, service: Service, principal: Principal): SseSession | HttpError {
		const {sessions} = this.#options;
		const {name} = service.config;
		const session = sessions.find(id, name, principal.id);
		const endpoint = session?.client instanceof StreamClient ? session.client.endpoint : undefined;
		if (endpoint instanceof SseSession) return endpoint;
		return sessions.notFoundError(name);
	}

	async upgradeToWebSocket(
		req: IncomingMessage,
		socket: Duplex,
		head: Buffer,
		{
			service,
			principal,
			maxBytes,
			take,
		}: {
			readonly service: Service;
			readonly principal: Principal;
			readonly maxBytes: number;
			/**
			 * Counts a request, if a rate limit is set. Returns the milliseconds to wait; 0 if the request is
			 * allowed.
			 */
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
			// Another session may have started since the limit was checked.
			void endpoint.close();
			if (!(error instanceof BridgeError)) throw error;
		}
	}
}

const authorizationHeaders = ({authorization}: Principal): Headers =>
	authorization === undefined ? {} : {authorization};
