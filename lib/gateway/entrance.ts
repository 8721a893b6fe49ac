import type {IncomingMessage, ServerResponse} from 'node:http';
import {performance} from 'node:perf_hooks';
import type {Duplex} from 'node:stream';
import {Answers} from '../http/answers.js';
import {acceptedBy, wantsEvents} from '../http/read-body.js';
import {internalError, notUpgraded, type Refused, refuse} from '../http/refuse.js';
import {type Target, targetOf} from '../http/target.js';
import {logBug} from '../log.js';
import type {Replicas} from '../replicas/replicas.js';
import {headerOf} from '../transports/http-exchange.js';
import {HttpSession} from '../transports/http-server.js';
import {warnLimited} from '../warn-limited.js';
import {admission, countedAs, enter, lastRefusal, noRoom, upgradeProblem} from './admission.js';
import type {Ground} from './begin-session.js';
import {Bodies} from './bodies.js';
import {callerOf, tokenIn} from './caller.js';
import type {Gateway} from './gateway.js';
import {Login} from './login.js';
import {servePage} from './pages.js';
import {Posts, sessionIdOf, severalIds} from './posts.js';
import {leadBack} from './recall.js';
import {
	another,
	disabled,
	disabledFor,
	noReplica,
	notAnAnswer,
	notAStream,
	unknownService,
} from './refusals.js';
import {ended, failing, json, methods, only, type Served} from './replies.js';
import type {Service} from './service.js';
import {Streams} from './streams.js';
import type {Means} from './whereabouts.js';
import {type Asked, leadConfirmed} from './whereabouts.js';

/** Where requests come in: who may ask, what for, and where it goes. */
export class Entrance {
	readonly #gateway: Gateway;
	readonly #ground: Ground;
	readonly #posts: Posts;
	readonly #streams: Streams;
	readonly #login: Login;
	readonly #bodies: Bodies;
	/** What is on its way to clients. */
	readonly answers = new Answers();

	constructor(gateway: Gateway) {
		const {log, converse, sessions} = gateway;
		this.#gateway = gateway;
		this.#bodies = new Bodies(
			() => gateway.config.limits.messageBytes,
			(req, body) => gateway.replicas?.hop.isBodyOf(req, body) !== false,
		);
		const [replicas, isLeaving] = [() => gateway.replicas, () => gateway.isLeaving];
		this.#ground = {log, converse, sessions, pending: gateway.pending, replicas, isLeaving};
		this.#posts = new Posts(this.#ground);
		this.#streams = new Streams(this.#ground);
		this.#login = new Login({
			isNeeded: () => gateway.guard.needsToken,
			isToken: text => gateway.guard.isToken(text),
			page: gateway.view.page,
			shared: () => gateway.replicas?.logins,
		});
	}

	readonly handle = (req: IncomingMessage, res: ServerResponse): void => {
		const {replicas, isLeaving} = this.#gateway;
		const isForged = replicas?.hop.receive(req, res, isLeaving) === false;
		const target = this.#targetOf(req);
		const service = 'service' in target ? this.#gateway.find(target.service) : undefined;
		const start = performance.now();
		// Whoever keeps this connection is to use another one, which may lead elsewhere.
		if (this.#gateway.isDraining) res.shouldKeepAlive = false;
		this.answers.add(res, () => {
			const seconds = (performance.now() - start) / 1000;
			this.#gateway.metrics.count(service?.config.name, req.method ?? '', res.statusCode, seconds);
		});
		const work = () => (isForged ? noReplica : this.#route(req, res, target, service));
		const doubt = this.#login.confirm(req);
		if (doubt !== undefined)
			this.#answerLater(
				res,
				doubt.then(() => work),
			);
		else this.#answer(res, work);
	};

	/** Answers with why something is not done, if it is not. */
	#answer(res: ServerResponse, work: () => Refused | undefined): void {
		try {
			const refused = work();
			if (refused) refuse(res, refused);
		} catch (error) {
			logBug(this.#gateway.log, error);
			refuse(res, internalError);
		}
	}

	/** Answers when it is known how, unless nobody waits any more. */
	#answerLater(res: ServerResponse, known: Promise<() => Refused | undefined>): undefined {
		void known.catch(failing).then(work => {
			if (!res.destroyed) this.#answer(res, work);
		});
	}

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
		const foreign = this.#foreign(req);
		if (foreign) return foreign;
		if (target.kind === 'healthz') return only(req, ['GET', 'HEAD']) ?? void json(res, {status: 'ok'});
		if (target.kind === 'first') return this.#login.serve(req, res);
		if (target.kind === 'logout') return this.#login.logOut(req, res);
		const entered = enter(this.#gateway, this.#login, {req, res, service});
		if ('refused' in entered) return entered.refused;
		if ('service' in target) {
			if (!service) return unknownService(this.#gateway.services);
			// The replica that it is for was here before.
			if (this.#gateway.replicas?.hop.isMisled(req)) return this.#gateway.sessions.unknown(target.service);
			const caller = callerOf(req, service, entered.token);
			const refused = admission(this.#gateway, req, caller);
			const serve = (): Refused | undefined => this.#serve({req, res, service, caller}, target);
			if (!(refused instanceof Promise)) return refused ?? serve();
			const known = refused.then(why => () => why ?? serve());
			return this.#answerLater(res, known);
		}
		return servePage(this.#gateway, req, res, target.kind);
	}

	/** Why a request is not even looked at. */
	#foreign(req: IncomingMessage): Refused | undefined {
		const {guard, log} = this.#gateway;
		const foreign = guard.refusal(req);
		if (foreign?.status !== 403) return foreign;
		const {host, origin} = req.headers;
		const event = foreign.message.includes('Origin') ? 'http.origin_rejected' : 'http.host_rejected';
		warnLimited(log, event, `${foreign.message}.`, {host, origin});
		return foreign;
	}

	#serve(asked: Asked, target: Served): Refused | undefined {
		const {req, service} = asked;
		const wrong = only(req, methods[target.kind]);
		if (wrong) return wrong;
		const {name, enabled} = service.config;
		if (!enabled && req.method !== 'POST') return disabled(name);
		if (target.kind === 'sse') return this.#listen(asked);
		const given = target.kind === 'message' ? (target.query.get('sessionId') ?? '') : sessionIdOf(req);
		const {replicas} = this.#gateway;
		if (!replicas || typeof given !== 'string') return this.#take(asked, target, given);
		const led = leadConfirmed(this.#means(replicas), given, asked, (here, body) =>
			this.#take(body ? {...asked, body} : asked, target, here),
		);
		return led instanceof Promise ? this.#answerLater(asked.res, led) : led;
	}

	#means(replicas: Replicas): Means {
		return {ground: this.#ground, bodies: this.#bodies, replicas};
	}

	/** Takes what is for a session that is here, or for none. */
	#take(asked: Asked, target: Served, id: ReturnType<typeof sessionIdOf>): Refused | undefined {
		const {req, res, service, caller} = asked;
		if (target.kind === 'message')
			return this.#streams.receive(req, res, String(id), {service, caller, bodies: this.#bodies});
		if (req.method === 'POST') return this.#post(asked);
		if (id === undefined) return {status: 405, message: 'Method Not Allowed', headers: {allow: 'POST'}};
		if (id instanceof Error) return severalIds;
		const {sessions} = this.#gateway;
		const {name} = service.config;
		const held = sessions.find(id, name, caller.principal);
		if (!held || !(held.client instanceof HttpSession)) return sessions.unknown(name);
		if (req.method === 'DELETE') {
			if (held.conversation.carriage) held.conversation.carriage.isOver = true;
			this.#gateway.replicas?.ended.add(held.id);
			void sessions.end(held).then(status => ended(res, status));
			return;
		}
		if (!wantsEvents(req)) return notAStream;
		held.client.listen(res, headerOf(req.headers, 'last-event-id'));
		return;
	}

	#post(asked: Asked): Refused | undefined {
		const {req, res, service} = asked;
		if (this.#gateway.isDraining && sessionIdOf(req) === undefined) {
			const refused = lastRefusal(req, this.#gateway.replicas !== undefined);
			if (refused) return refused;
		}
		const accepts = acceptedBy(req);
		if (!accepts.json && !accepts.events) return notAnAnswer;
		const problem = asked.body ? undefined : this.#bodies.problem(req);
		if (problem) return problem;
		const {name} = service.config;
		const take = (body: Buffer | undefined, refused?: Refused): void => {
			if (!body) refuse(res, refused ?? {status: 400, message: 'Bad Request'});
			else if (!service.config.enabled) refuse(res, disabledFor(name, body));
			else if (this.#gateway.find(name) !== service) refuse(res, another(name));
			else this.#said({...asked, body});
		};
		if (asked.body) take(asked.body);
		else this.#bodies.read(req, res, take);
		return;
	}

	/** Takes what was posted. Who names no session may have one at another replica. */
	#said(asked: Asked & {readonly body: Buffer}): void {
		const {req, res, body, service, caller} = asked;
		const {replicas} = this.#gateway;
		const take = (): undefined => void this.#posts.take(req, res, body, service, caller);
		const back = replicas && leadBack(this.#means(replicas), asked, take);
		if (back) this.#answerLater(res, back);
		else take();
	}

	/** A client of 2024-11-05 begins. */
	#listen({req, res, service, caller}: Asked): Refused | undefined {
		const problem = wantsEvents(req) ? noRoom(this.#gateway, caller.token) : notAStream;
		if (problem) return problem;
		this.#streams.listen(res, service, caller);
		return;
	}

	/** A client wants to change to another protocol on its connection, of which WebSocket is the only one. */
	readonly upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
		const target = this.#targetOf(req);
		const service = target.kind === 'mcp' ? this.#gateway.find(target.service) : undefined;
		const refused = upgradeProblem(this.#gateway, req, service, socket);
		if (!refused && service) {
			const maxBytes = this.#gateway.config.limits.messageBytes;
			const {guard, rates} = this.#gateway;
			const caller = callerOf(req, service, tokenIn(req, service, guard));
			const counted = countedAs(req, caller);
			const take = rates.areLimited ? () => rates.take(counted) : undefined;
			this.#streams
				.upgrade(req, socket, head, {service, caller, maxBytes, take})
				.catch(error => logBug(this.#gateway.log, error));
			return;
		}
		notUpgraded(socket, refused ?? unknownService(this.#gateway.services));
	};
}
