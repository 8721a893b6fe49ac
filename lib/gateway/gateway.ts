import type {IncomingMessage, ServerResponse} from 'node:http';
import {performance} from 'node:perf_hooks';
import type {Config} from '../config/schema.js';
import {Guard} from '../http/guard.js';
import {acceptedBy, bodyProblem, readBody} from '../http/read-body.js';
import {type Refused, refuse} from '../http/refuse.js';
import {type Target, targetOf} from '../http/target.js';
import type {Log} from '../log.js';
import type {Caller, Converse} from './conversation.js';
import {Metrics} from './metrics.js';
import {type PostClient, Posts, sessionIdOf} from './posts.js';
import {ended, json, only} from './replies.js';
import {Service, type ServiceOptions} from './service.js';
import {Sessions} from './sessions.js';
import {statusOf} from './status.js';

export type GatewayOptions = {
	readonly config: Config;
	readonly log: Log;
	readonly converse: Converse;
	readonly onStderr: ServiceOptions['onStderr'];
	/** Lines that the traffic log left out. */
	readonly droppedLogLines: () => number;
};

type Served = Extract<Target, {service: string}>;

/** All services behind one HTTP server: who may ask, what for, and where it goes. */
export class Gateway {
	readonly #options: GatewayOptions;
	readonly #sessions: Sessions<PostClient>;
	readonly #posts: Posts;
	readonly #metrics: Metrics;
	#config: Config;
	#guard: Guard;
	#services: ReadonlyMap<string, Service>;
	#isDraining = false;

	constructor(options: GatewayOptions) {
		const {config, log, converse} = options;
		const {sessions: limit, idleMs} = config.limits;
		this.#options = options;
		this.#config = config;
		this.#guard = guardOf(config);
		this.#services = this.#servicesOf(config, new Map());
		this.#sessions = new Sessions({log, limit, idleMs});
		this.#posts = new Posts({log, converse, sessions: this.#sessions});
		this.#metrics = new Metrics({
			sessions: () => this.#sessions.size,
			children: () => this.#sum(service => service.children),
			cacheHits: () => this.#sum(service => service.cacheCounts().hits),
			cacheMisses: () => this.#sum(service => service.cacheCounts().misses),
			droppedLogLines: options.droppedLogLines,
		});
	}

	#sum(read: (service: Service) => number): number {
		return [...this.#services.values()].reduce((sum, service) => sum + read(service), 0);
	}

	readonly handle = (req: IncomingMessage, res: ServerResponse): void => {
		const target = targetOf(req.url ?? '');
		const service = 'service' in target ? this.#services.get(target.service) : undefined;
		const start = performance.now();
		res.once('close', () => {
			const seconds = (performance.now() - start) / 1000;
			this.#metrics.count(service?.config.name, req.method ?? '', res.statusCode, seconds);
		});
		const refused = this.#route(req, res, target, service);
		if (refused) refuse(res, refused);
	};

	/** Where a request goes; or why it goes nowhere. */
	#route(
		req: IncomingMessage,
		res: ServerResponse,
		target: Target,
		service: Service | undefined,
	): Refused | undefined {
		const foreign = this.#guard.refusal(req);
		if (foreign) {
			const {host, origin} = req.headers;
			const event = foreign.message.includes('Origin') ? 'http.origin_rejected' : 'http.host_rejected';
			if (foreign.status === 403) this.#options.log.warn(event, `${foreign.message}.`, {host, origin});
			return foreign;
		}
		if (target.kind === 'healthz') return only(req, ['GET']) ?? void json(res, {status: 'ok'});
		if (!this.#guard.knows(req, service?.config.passAuthorization === false)) return unknownToken;
		if ('service' in target) {
			if (!service) return this.#noService();
			return this.#serve(req, res, target, service);
		}
		return this.#page(req, res, target.kind);
	}

	#page(
		req: IncomingMessage,
		res: ServerResponse,
		kind: Exclude<Target['kind'], 'healthz'>,
	): Refused | undefined {
		if (kind === 'none' || kind === 'all') return {status: 404, message: 'Not Found'};
		const wrong = only(req, ['GET']);
		if (wrong) return wrong;
		if (kind === 'readyz')
			return this.#isDraining ? {status: 503, message: 'Draining'} : void json(res, {status: 'ready'});
		if (kind === 'status') json(res, this.status());
		else
			void this.#metrics.text().then(text => {
				res.writeHead(200, {'content-type': this.#metrics.contentType}).end(text);
			});
		return;
	}

	#serve(req: IncomingMessage, res: ServerResponse, target: Served, service: Service): Refused | undefined {
		const wrong = only(req, methods[target.kind]);
		if (wrong) return wrong;
		const {name, enabled} = service.config;
		if (!enabled && req.method !== 'POST') return disabled(name);
		const caller = this.#callerOf(req, service);
		if (target.kind !== 'mcp') return {status: 404, message: 'Not Found'};
		if (req.method === 'POST') return this.#post(req, res, service, caller);
		const id = sessionIdOf(req);
		if (id === undefined) return {status: 405, message: 'Method Not Allowed', headers: {allow: 'POST'}};
		const held = typeof id === 'string' ? this.#sessions.find(id, name, caller.principal) : undefined;
		if (!held) return {status: 404, code: -32001, message: 'Session not found'};
		if (req.method === 'DELETE') {
			void this.#sessions.end(held).then(status => ended(res, status));
			return;
		}
		if (!acceptedBy(req).events)
			return {status: 406, message: 'Not Acceptable: a stream is text/event-stream'};
		if ('listen' in held.client) held.client.listen(res, headerOf(req, 'last-event-id'));
		return;
	}

	#post(req: IncomingMessage, res: ServerResponse, service: Service, caller: Caller): Refused | undefined {
		const {messageBytes} = this.#config.limits;
		const accepts = acceptedBy(req);
		if (!accepts.json && !accepts.events)
			return {status: 406, message: 'Not Acceptable: an answer is application/json or text/event-stream'};
		const problem = bodyProblem(req, messageBytes);
		if (problem) return problem;
		readBody(req, messageBytes, (line, refused) => {
			if (!line) refuse(res, refused ?? {status: 400, message: 'Bad Request'});
			else if (!service.config.enabled) refuse(res, disabledFor(service.config.name, line));
			else this.#posts.take(req, res, line, service, caller);
		});
		return;
	}

	#callerOf({headers}: IncomingMessage, {config}: Service): Caller {
		const {authorization} = headers;
		const token = headers['x-bridge-token'];
		return {
			authorization: config.passAuthorization ? authorization : undefined,
			principal: JSON.stringify([authorization, token]),
		};
	}

	#noService(): Refused {
		const services = [...this.#services.keys()].sort();
		return {status: 404, message: 'There is no such service.', facts: {services}};
	}

	status(): {readonly [key: string]: unknown} {
		const counts = new Map<string, number>();
		for (const {conversation} of this.#sessions.values()) {
			const {name} = conversation.service.config;
			counts.set(name, (counts.get(name) ?? 0) + 1);
		}
		const services = [...this.#services].map(([name, service]) => [
			name,
			statusOf(service, counts.get(name) ?? 0),
		]);
		return {services: Object.fromEntries(services), sessions: this.#sessions.size};
	}

	/** Takes another configuration on. Services that are the same in it are not touched. */
	async reload(config: Config): Promise<void> {
		const old = this.#services;
		this.#config = config;
		this.#guard = guardOf(config);
		this.#services = this.#servicesOf(config, old);
		const kept = new Set(this.#services.values());
		await this.#sessions.endWhere(({conversation}) => !kept.has(conversation.service));
		for (const service of old.values()) if (!kept.has(service)) await service.close();
	}

	#servicesOf(config: Config, old: ReadonlyMap<string, Service>): Map<string, Service> {
		const {log, onStderr} = this.#options;
		const options = {log, onStderr, maxBytes: config.limits.messageBytes};
		const all = [...config.services].map(([name, one]): [string, Service] => {
			const known = old.get(name);
			const isSame = known !== undefined && JSON.stringify(known.config) === JSON.stringify(one);
			return [name, isSame ? known : new Service(one, options)];
		});
		return new Map(all);
	}

	/** Lets what is under way come to its end, and ends it if it does not by the time `hurry` resolves. */
	async close(hurry: Promise<unknown>): Promise<void> {
		this.#isDraining = true;
		await Promise.race([this.#idle(), hurry]);
		await this.#sessions.close();
		for (const service of this.#services.values()) await service.close();
	}

	async #idle(): Promise<void> {
		while ([...this.#sessions.values()].some(({client}) => client.unanswered > 0))
			await new Promise(resolve => setTimeout(resolve, POLL_MS));
	}
}

const POLL_MS = 20;
const methods: {readonly [kind in Served['kind']]: readonly string[]} = {
	mcp: ['GET', 'POST', 'DELETE'],
	sse: ['GET'],
	message: ['POST'],
};

const guardOf = ({listen, origins, tokens}: Config): Guard =>
	new Guard({hosts: isAnyAddress(listen.host) ? ['*'] : [listen.host], origins, tokens});

const isAnyAddress = (host: string): boolean => host === '0.0.0.0' || host === '::' || host === '[::]';

const unknownToken: Refused = {
	status: 401,
	message: 'Unauthorized: a token of this bridge is needed, in X-Bridge-Token',
	headers: {'www-authenticate': 'Bearer realm="bridge"'},
};

const disabled = (name: string): Refused => ({status: 503, message: `${name} is disabled (enabled: false).`});

/** A client that asks what there is must not give up on bridge because of one service. */
const disabledFor = (name: string, line: Buffer): Refused => ({
	...disabled(name),
	status: line.includes('"server/discover"') ? 400 : 503,
});

const headerOf = ({headers}: IncomingMessage, name: string): string | undefined => {
	const value = headers[name];
	return Array.isArray(value) ? value.join(', ') : value;
};
