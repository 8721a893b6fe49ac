import type {IncomingMessage, ServerResponse} from 'node:http';
import {performance} from 'node:perf_hooks';
import type {Duplex} from 'node:stream';
import type {Headers} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {Answers} from '../http/answers.js';
import {BodyRoom} from '../http/body-room.js';
import {acceptedBy, bodyProblem, readBody} from '../http/read-body.js';
import {type Refused, refuse} from '../http/refuse.js';
import {type Target, targetOf} from '../http/target.js';
import {logBug} from '../log.js';
import {headerOf} from '../transports/http-exchange.js';
import {HttpSession} from '../transports/http-server.js';
import {SseServer} from '../transports/sse-server.js';
import type {Caller} from './conversation.js';
import type {Gateway} from './gateway.js';
import {Login} from './login.js';
import {servePage} from './pages.js';
import {Posts, sessionIdOf, severalIds} from './posts.js';
import {
	another,
	disabled,
	disabledFor,
	draining,
	internalError,
	notAnAnswer,
	notAStream,
	overloaded,
	unknownToken,
} from './refusals.js';
import {ended, json, notUpgraded, only} from './replies.js';
import type {Service} from './service.js';
import {Streams} from './streams.js';

type Served = Extract<Target, {service: string}>;

/** Where requests come in: who may ask, what for, and where it goes. */
export class Entrance {
	readonly #gateway: Gateway;
	readonly #posts: Posts;
	readonly #streams: Streams;
	readonly #login: Login;
	readonly #room: BodyRoom;
	/** What is on its way to clients. */
	readonly answers = new Answers();

	constructor(gateway: Gateway) {
		const {log, converse, sessions} = gateway;
		this.#gateway = gateway;
		this.#room = new BodyRoom(() => gateway.config.limits.messageBytes);
		this.#posts = new Posts({log, converse, sessions});
		this.#streams = new Streams({log, converse, sessions});
		this.#login = new Login({
			isNeeded: () => gateway.guard.needsToken,
			isToken: text => gateway.guard.isToken(text),
			page: gateway.view.page,
		});
	}

	readonly handle = (req: IncomingMessage, res: ServerResponse): void => {
		const target = this.#targetOf(req);
		const service = 'service' in target ? this.#gateway.find(target.service) : undefined;
		const start = performance.now();
		this.answers.add(res, () => {
			const seconds = (performance.now() - start) / 1000;
			this.#gateway.metrics.count(service?.config.name, req.method ?? '', res.statusCode, seconds);
		});
		try {
			const refused = this.#route(req, res, target, service);
			if (refused) refuse(res, refused);
		} catch (error) {
			logBug(this.#gateway.log, error);
			refuse(res, internalError);
		}
	};

	#targetOf({url = ''}: IncomingMessage): Target {
		return targetOf(url, name => this.#gateway.services.has(name));
	}

	/** Where a request goes; or why it goes nowhere. */
	#route(
		req: IncomingMessage,
		res: ServerResponse,
		target: Target,
		service: Service | undefined,
	): Refused | undefined {
		const foreign = this.#gateway.guard.refusal(req);
		if (foreign) {
			const {host, origin} = req.headers;
			const event = foreign.message.includes('Origin') ? 'http.origin_rejected' : 'http.host_rejected';
			if (foreign.status === 403) this.#gateway.log.warn(event, `${foreign.message}.`, {host, origin});
			return foreign;
		}
		if (target.kind === 'healthz') return only(req, ['GET', 'HEAD']) ?? void json(res, {status: 'ok'});
		if (target.kind === 'first') return this.#login.serve(req, res);
		const isKnown = this.#gateway.guard.knows(req, service?.config.passAuthorization === false);
		if (!isKnown && !this.#login.knows(req)) return unknownToken;
		if ('service' in target) {
			if (!service) return this.#noService();
			return this.#serve(req, res, target, service);
		}
		return servePage(this.#gateway, req, res, target.kind);
	}

	#serve(req: IncomingMessage, res: ServerResponse, target: Served, service: Service): Refused | undefined {
		const wrong = only(req, methods[target.kind]);
		if (wrong) return wrong;
		const {name, enabled} = service.config;
		if (!enabled && req.method !== 'POST') return disabled(name);
		const caller = this.#callerOf(req, service);
		if (target.kind === 'sse') return this.#listen(req, res, service, caller);
		if (target.kind === 'message') return this.#message(req, res, target, service, caller);
		if (req.method === 'POST') return this.#post(req, res, service, caller);
		const id = sessionIdOf(req);
		if (id === undefined) return {status: 405, message: 'Method Not Allowed', headers: {allow: 'POST'}};
		if (id instanceof Error) return severalIds;
		const {sessions} = this.#gateway;
		const held = sessions.find(id, name, caller.principal);
		if (!held || !(held.client instanceof HttpSession)) return sessions.unknown(name);
		if (req.method === 'DELETE') {
			void sessions.end(held).then(status => ended(res, status));
			return;
		}
		if (!acceptedBy(req).events) return notAStream;
		held.client.listen(res, headerOf(req.headers, 'last-event-id'));
		return;
	}

	#post(req: IncomingMessage, res: ServerResponse, service: Service, caller: Caller): Refused | undefined {
		if (this.#gateway.isDraining && sessionIdOf(req) === undefined) {
			// Who asks what there is must not take the end of a gateway for an answer about its era.
			return req.headers['mcp-method'] === 'server/discover' ? {...draining, status: 400} : draining;
		}
		const {messageBytes} = this.#gateway.config.limits;
		const accepts = acceptedBy(req);
		if (!accepts.json && !accepts.events) return notAnAnswer;
		const problem = bodyProblem(req, messageBytes);
		if (problem) return problem;
		this.#read(req, res, (line, refused) => {
			if (!line) refuse(res, refused ?? {status: 400, message: 'Bad Request'});
			else if (!service.config.enabled) refuse(res, disabledFor(service.config.name, line));
			else if (this.#gateway.find(service.config.name) !== service) refuse(res, another(service.config.name));
			else this.#posts.take(req, res, line, service, caller);
		});
		return;
	}

	/** Reads the body of a request, as long as there is room for it. */
	#read(req: IncomingMessage, res: ServerResponse, done: Parameters<typeof readBody>[2]): void {
		readBody(req, this.#gateway.config.limits.messageBytes, done, this.#room.of(res));
	}

	/** A client of 2024-11-05 begins. */
	#listen(req: IncomingMessage, res: ServerResponse, service: Service, caller: Caller): Refused | undefined {
		const problem = acceptedBy(req).events ? this.#full() : notAStream;
		if (problem) return problem;
		this.#streams.listen(res, service, caller);
		return;
	}

	/** Such a client says something. It is read when there is room for it. */
	#message(
		req: IncomingMessage,
		res: ServerResponse,
		{query}: Served,
		service: Service,
		caller: Caller,
	): Refused | undefined {
		const {messageBytes} = this.#gateway.config.limits;
		const listener = this.#streams.listener(query.get('sessionId'), service, caller);
		if (!(listener instanceof SseServer)) return listener;
		const problem = bodyProblem(req, messageBytes);
		if (problem) return problem;
		const headers: Headers = caller.authorization === undefined ? {} : {authorization: caller.authorization};
		listener.valve.whenOpen(() =>
			this.#read(req, res, (line, refused) => {
				if (!line) return refuse(res, refused ?? {status: 400, message: 'Bad Request'});
				res.writeHead(202, {'content-length': 0}).end();
				listener.receive(line, headers);
			}),
		);
		return;
	}

	/** A client wants to change to another protocol on its connection, of which WebSocket is the only one. */
	readonly upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
		const target = this.#targetOf(req);
		const service = target.kind === 'mcp' ? this.#gateway.find(target.service) : undefined;
		const refused = this.#upgradeProblem(req, service);
		if (!refused && service) {
			const maxBytes = this.#gateway.config.limits.messageBytes;
			const caller = this.#callerOf(req, service);
			this.#streams
				.upgrade(req, socket, head, {service, caller, maxBytes})
				.catch(error => logBug(this.#gateway.log, error));
			return;
		}
		notUpgraded(socket, refused ?? this.#noService());
	};

	#upgradeProblem(req: IncomingMessage, service: Service | undefined): Refused | undefined {
		const foreign = this.#gateway.guard.refusal(req);
		if (foreign) return foreign;
		if (!this.#gateway.guard.knows(req, service?.config.passAuthorization === false)) return unknownToken;
		if (req.headers.upgrade?.toLowerCase() !== 'websocket') return {status: 400, message: 'Bad Request'};
		if (!service) return;
		return service.config.enabled ? this.#full() : disabled(service.config.name);
	}

	/** Why nobody new is let in at present. */
	#full(): Refused | undefined {
		if (this.#gateway.isDraining) return draining;
		try {
			this.#gateway.sessions.makeRoom();
			return;
		} catch (error) {
			if (!(error instanceof BridgeError)) throw error;
			return overloaded(error);
		}
	}

	#callerOf({headers}: IncomingMessage, {config}: Service): Caller {
		const {authorization} = headers;
		const token = headers['x-bridge-token'];
		if (authorization === undefined && token === undefined) return nobody;
		return {
			authorization: config.passAuthorization ? authorization : undefined,
			principal: JSON.stringify([authorization, token]),
		};
	}

	#noService(): Refused {
		const services = [...this.#gateway.services.keys()].sort();
		return {status: 404, message: 'There is no such service.', facts: {services}};
	}
}

/** A caller that has shown nothing. */
const nobody: Caller = {authorization: undefined, principal: JSON.stringify([undefined, undefined])};

const methods: {readonly [kind in Served['kind']]: readonly string[]} = {
	mcp: ['GET', 'POST', 'DELETE'],
	sse: ['GET'],
	message: ['POST'],
};
