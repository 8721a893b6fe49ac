import type {IncomingMessage, ServerResponse} from 'node:http';
import {performance} from 'node:perf_hooks';
import type {Duplex} from 'node:stream';
import {logBug} from '../core/log.js';
import {warnRateLimited} from '../core/warn-rate-limited.js';
import {
	invalidForwarding,
	notAcceptableResponse,
	notAcceptableStream,
	serviceChanged,
	serviceDisabled,
	serviceDisabledFor,
	unknownService,
} from '../http/errors.js';
import {type HttpError, internalError, rejectUpgrade, sendHttpError} from '../http/http-error.js';
import {Login} from '../http/login/login.js';
import {OpenResponses} from '../http/open-responses.js';
import {acceptsEventStream, parseAccept} from '../http/read-body.js';
import {
	allowedMethods,
	checkMethod,
	type McpTarget,
	sendJson,
	sendSessionEnded,
	throwLater,
} from '../http/replies.js';
import {parseTarget, type RequestTarget} from '../http/target.js';
import {headerValue} from '../transports/http-client/http-request.js';
import {HttpSession} from '../transports/http-server/http-session.js';
import {bridgeTokenIn, principalOf} from '../upstream/principal.js';
import type {Service} from '../upstream/service.js';
import {
	authenticate,
	checkAdmission,
	rateKeyOf,
	rejectWhileDraining,
	sessionLimitError,
	validateUpgrade,
} from './admission.js';
import type {GatewayContext} from './begin-session.js';
import {BodyReader} from './body-reader.js';
import type {Replicas} from './cluster/replicas.js';
import {routeToLastSession} from './cluster/route-to-last-session.js';
import type {RoutingContext} from './cluster/route-to-session.js';
import {confirmAndRoute, type ServiceRequest} from './cluster/route-to-session.js';
import type {Gateway} from './gateway.js';
import {serveGatewayPage} from './pages.js';
import {multipleSessionIds, PostHandler, sessionIdOf} from './post-handler.js';
import {StreamHandler} from './stream-handler.js';

export class GatewayRequestHandler {
	readonly #gateway: Gateway;
	readonly #context: GatewayContext;
	readonly #postHandler: PostHandler;
	readonly #streamHandler: StreamHandler;
	readonly #login: Login;
	readonly #bodyReader: BodyReader;
	readonly openResponses = new OpenResponses();

	constructor(gateway: Gateway) {
		const {log, startConversation, sessions} = gateway;
		this.#gateway = gateway;
		this.#bodyReader = new BodyReader(
			() => gateway.config.limits.messageBytes,
			(req, body) => gateway.replicas?.authentication.matchesBody(req, body) !== false,
		);
		const [replicas, isLeaving] = [() => gateway.replicas, () => gateway.isLeaving];
		this.#context = {
			log,
			startConversation,
			sessions,
			pendingQuotas: gateway.pendingQuotas,
			replicas,
			isLeaving,
		};
		this.#postHandler = new PostHandler(this.#context);
		this.#streamHandler = new StreamHandler(this.#context);
		this.#login = new Login({
			isRequired: () => gateway.guard.needsToken,
			isToken: text => gateway.guard.isToken(text),
			servePage: gateway.view.servePage,
			shared: () => gateway.replicas?.logins,
		});
	}

	readonly handle = (req: IncomingMessage, res: ServerResponse): void => {
		const {replicas, isLeaving} = this.#gateway;
		const isForged = replicas?.authentication.authenticate(req, res, isLeaving) === false;
		const target = this.#parseTarget(req);
		const service = 'service' in target ? this.#gateway.findService(target.service) : undefined;
		const start = performance.now();
		// Clients then open a new connection, which a load balancer can send to another replica.
		if (this.#gateway.isDraining) res.shouldKeepAlive = false;
		this.openResponses.add(res, () => {
			const seconds = (performance.now() - start) / 1000;
			this.#gateway.metrics.countRequest(service?.config.name, req.method ?? '', res.statusCode, seconds);
		});
		const produce = () => (isForged ? invalidForwarding : this.#route(req, res, target, service));
		const loginCheck = this.#login.confirm(req);
		if (loginCheck !== undefined)
			this.#respondLater(
				res,
				loginCheck.then(() => produce),
			);
		else this.#respond(res, produce);
	};

	/** Sends the error that `produce` returns or throws, if there is one. */
	#respond(res: ServerResponse, produce: () => HttpError | undefined): void {
		try {
			const rejection = produce();
			if (rejection) sendHttpError(res, rejection);
		} catch (error) {
			logBug(this.#gateway.log, error);
			sendHttpError(res, internalError);
		}
	}

	/** Like `#respond`, once `ready` resolves. Does nothing if the client has disconnected in the meantime. */
	#respondLater(res: ServerResponse, ready: Promise<() => HttpError | undefined>): undefined {
		void ready.catch(throwLater).then(produce => {
			if (!res.destroyed) this.#respond(res, produce);
		});
	}

	#parseTarget({url = ''}: IncomingMessage): RequestTarget {
		return parseTarget(url, name => this.#gateway.services.has(name));
	}

	#route(
		req: IncomingMessage,
		res: ServerResponse,
		target: RequestTarget,
		service: Service | undefined,
	): HttpError | undefined {
		const rejection = this.#checkGuard(req);
		if (rejection) return rejection;
		if (target.kind === 'healthz')
			return checkMethod(req, ['GET', 'HEAD']) ?? void sendJson(res, {status: 'ok'});
		if (target.kind === 'first') return this.#login.serveFrontPage(req, res);
		if (target.kind === 'logout') return this.#login.logOut(req, res);
		const authenticated = authenticate(this.#gateway, this.#login, {req, res, service});
		if ('error' in authenticated) return authenticated.error;
		if ('service' in target) {
			if (!service) return unknownService(this.#gateway.services);
			// The request is for a replica that had this address before.
			if (this.#gateway.replicas?.authentication.isMisdirected(req))
				return this.#gateway.sessions.notFoundError(target.service);
			const principal = principalOf(req, service, authenticated.token);
			const admissionError = checkAdmission(this.#gateway, req, principal);
			const serve = (): HttpError | undefined => this.#serveTarget({req, res, service, principal}, target);
			if (!(admissionError instanceof Promise)) return admissionError ?? serve();
			const ready = admissionError.then(error => () => error ?? serve());
			return this.#respondLater(res, ready);
		}
		return serveGatewayPage(this.#gateway, req, res, target.kind);
	}

	/** Returns the error for a request that is rejected before routing. */
	#checkGuard(req: IncomingMessage): HttpError | undefined {
		const {guard, log} = this.#gateway;
		const rejection = guard.validate(req);
		if (!rejection?.event) return rejection;
		const {host, origin} = req.headers;
		warnRateLimited(log, rejection.event, `${rejection.message}.`, {host, origin});
		return rejection;
	}

	#serveTarget(request: ServiceRequest, target: McpTarget): HttpError | undefined {
		const {req, service} = request;
		const methodError = checkMethod(req, allowedMethods[target.kind]);
		if (methodError) return methodError;
		const {name, enabled} = service.config;
		if (!enabled && req.method !== 'POST') return serviceDisabled(name);
		if (target.kind === 'sse') return this.#openSse(request);
		const sessionId = target.kind === 'message' ? (target.query.get('sessionId') ?? '') : sessionIdOf(req);
		const {replicas} = this.#gateway;
		if (!replicas || typeof sessionId !== 'string') return this.#handleLocally(request, target, sessionId);
		const routed = confirmAndRoute(this.#routingContext(replicas), sessionId, request, (localId, body) =>
			this.#handleLocally(body ? {...request, body} : request, target, localId),
		);
		return routed instanceof Promise ? this.#respondLater(request.res, routed) : routed;
	}

	#routingContext(replicas: Replicas): RoutingContext {
		return {context: this.#context, bodies: this.#bodyReader, replicas};
	}

	/** Handles a request of a local session, or without a session. */
	#handleLocally(
		request: ServiceRequest,
		target: McpTarget,
		id: ReturnType<typeof sessionIdOf>,
	): HttpError | undefined {
		const {req, res, service, principal} = request;
		if (target.kind === 'message')
			return this.#streamHandler.receivePost(req, res, String(id), {
				service,
				principal,
				bodies: this.#bodyReader,
			});
		if (req.method === 'POST') return this.#handlePost(request, id);
		if (id === undefined) return {status: 405, message: 'Method Not Allowed', headers: {allow: 'POST'}};
		if (id instanceof Error) return multipleSessionIds;
		const {sessions} = this.#gateway;
		const {name} = service.config;
		const session = sessions.find(id, name, principal.id);
		if (!session || !(session.client instanceof HttpSession)) return sessions.notFoundError(name);
		if (req.method === 'DELETE') {
			if (session.conversation.upstreamControl) session.conversation.upstreamControl.isEnded = true;
			this.#gateway.replicas?.endedSessions.add(session.id);
			void sessions.end(session).then(status => sendSessionEnded(res, status));
			return;
		}
		if (!acceptsEventStream(req)) return notAcceptableStream;
		session.client.listen(res, headerValue(req.headers, 'last-event-id'));
		return;
	}

	#handlePost(request: ServiceRequest, id: ReturnType<typeof sessionIdOf>): HttpError | undefined {
		const {req, res, service} = request;
		if (this.#gateway.isDraining && id === undefined) {
			const rejection = rejectWhileDraining(req, this.#gateway.replicas !== undefined);
			if (rejection) return rejection;
		}
		const accepts = parseAccept(req);
		if (!accepts.json && !accepts.events) return notAcceptableResponse;
		const headerError = request.body ? undefined : this.#bodyReader.validateHeaders(req);
		if (headerError) return headerError;
		const {name} = service.config;
		const handleBody = (body: Buffer | undefined, error?: HttpError): void => {
			if (!body) sendHttpError(res, error ?? {status: 400, message: 'Bad Request'});
			else if (!service.config.enabled) sendHttpError(res, serviceDisabledFor(name, body));
			else if (this.#gateway.findService(name) !== service) sendHttpError(res, serviceChanged(name));
			else this.#handlePostBody({...request, body}, id);
		};
		if (request.body) handleBody(request.body);
		else this.#bodyReader.read(req, res, handleBody);
		return;
	}

	/**
	 * Handles a POST. If it has no session id, the most recent session of the client may be at another replica.
	 */
	#handlePostBody(
		request: ServiceRequest & {readonly body: Buffer},
		id: ReturnType<typeof sessionIdOf>,
	): void {
		const {res} = request;
		const {replicas} = this.#gateway;
		const handle = (localId: typeof id): undefined => void this.#postHandler.handle(request, localId);
		const routed =
			id === undefined && replicas
				? routeToLastSession(this.#routingContext(replicas), request, handle)
				: undefined;
		if (routed !== undefined) this.#respondLater(res, routed);
		else handle(id);
	}

	/** Starts a session with a client of 2024-11-05. */
	#openSse({req, res, service, principal}: ServiceRequest): HttpError | undefined {
		const rejection = acceptsEventStream(req)
			? sessionLimitError(this.#gateway, principal.token)
			: notAcceptableStream;
		if (rejection) return rejection;
		this.#streamHandler.openSse(res, service, principal);
		return;
	}

	readonly upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
		const target = this.#parseTarget(req);
		const service = target.kind === 'mcp' ? this.#gateway.findService(target.service) : undefined;
		const rejection = validateUpgrade(this.#gateway, req, service, socket);
		if (!rejection && service) {
			const maxBytes = this.#gateway.config.limits.messageBytes;
			const {guard, rateLimiter} = this.#gateway;
			const principal = principalOf(req, service, bridgeTokenIn(req, service, guard));
			const rateKey = rateKeyOf(req, principal);
			const take = rateLimiter.isEnabled ? () => rateLimiter.take(rateKey) : undefined;
			this.#streamHandler
				.upgradeToWebSocket(req, socket, head, {service, principal, maxBytes, take})
				.catch(error => logBug(this.#gateway.log, error));
			return;
		}
		rejectUpgrade(socket, rejection ?? unknownService(this.#gateway.services));
	};
}
