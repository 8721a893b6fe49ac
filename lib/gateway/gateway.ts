import {type Listen, listenText} from '../config/listen.js';
import type {Config} from '../config/schema.js';
import {BridgeError} from '../errors.js';
import {Guard} from '../http/guard.js';
import {ALL} from '../http/target.js';
import {allServers} from '../hub/all-servers.js';
import {Hub, type HubOptions} from '../hub/hub.js';
import type {Log} from '../log.js';
import {isLoopback} from '../loopback.js';
import {pause} from '../pause.js';
import type {Replicas} from '../replicas/replicas.js';
import type {LiveTraffic} from '../store/live-traffic.js';
import type {ViewRoutes} from '../view/routes.js';
import type {Conversation, Converse} from './conversation.js';
import {Metrics} from './metrics.js';
import {isOwned} from './owned.js';
import {Rates} from './rates.js';
import {type Opener, Service, type ServiceOptions} from './service.js';
import {servicesOf} from './services.js';
import {Sessions} from './sessions.js';
import {statusOf} from './status.js';
import {Tallies} from './tallies.js';
import {viewOf} from './view-of.js';

export type GatewayOptions = {
	readonly config: Config;
	readonly log: Log;
	readonly converse: Converse;
	/** The traffic as it passes. */
	readonly live: LiveTraffic;
	readonly onStderr: ServiceOptions['onStderr'];
	readonly createRunner: HubOptions['createRunner'];
	/** Which bridge this is. */
	readonly version: string;
	/** Where the files of the page are, and the module of the thread that indexes for it. */
	readonly page?: {readonly files: URL; readonly worker: URL};
	/** Lines that the traffic log left out. */
	readonly droppedLogLines: () => number;
	/** What is at /mcp instead of all services as one. */
	readonly all?: Opener;
	/** The other gateways, as a configuration names them after `before`; undefined where there are none. */
	readonly replicasOf?: (config: Config, before: Replicas | undefined) => Promise<Replicas | undefined>;
	readonly replicas?: Replicas | undefined;
	/** The token of this user, where the system does not list the owners of connections. It is used while no tokens are configured. */
	readonly userToken?: string | undefined;
};

/** All services that are behind one HTTP server, and the sessions of their clients. */
export class Gateway {
	readonly #options: GatewayOptions;
	readonly sessions: Sessions;
	readonly metrics: Metrics;
	readonly rates: Rates;
	/** Of each principal: its pending requests, and its HTTP requests, streams and WebSockets that are open. */
	readonly pending = new Tallies(() => this.config.limits.clientRequests);
	readonly open = new Tallies(() => this.config.limits.clientRequests);
	readonly log: Log;
	readonly converse: Converse;
	readonly live: LiveTraffic;
	/** The page for people, and what it asks for. */
	readonly view: ViewRoutes;
	config: Config;
	guard: Guard;
	services: ReadonlyMap<string, Service>;
	/** All services as one. */
	readonly #hub: Hub;
	readonly #all: Service;
	replicas: Replicas | undefined;
	/** Whether it is about to end, and takes nothing new on. */
	isDraining = false;
	/** Whether sessions that no other replica could carry on are over, but for what is under way in them. */
	isLeaving = false;

	constructor(options: GatewayOptions) {
		const {config, log, converse} = options;
		this.#options = options;
		this.log = log;
		this.converse = converse;
		this.live = options.live;
		this.view = viewOf(options, () => this.guard.needsToken);
		this.#join(options.replicas);
		this.config = config;
		this.guard = guardOf(config, options.userToken);
		this.services = this.#servicesOf(config, new Map());
		const {services} = this;
		const {createRunner, version} = options;
		this.#hub = new Hub({config, log, converse, services, createRunner, version});
		const all = options.all ?? ((_session, client) => this.#hub.open(client));
		this.#all = new Service(allServers, this.#serviceOptions(config), all);
		this.sessions = new Sessions({log, limits: () => this.config.limits});
		this.rates = new Rates({limit: () => this.config.limits.rate, store: () => this.replicas?.store});
		this.metrics = new Metrics({
			sessions: () => this.sessions.size,
			children: () => this.#sum(service => service.children),
			cacheHits: () => this.#sum(service => service.cacheCounts().hits),
			cacheMisses: () => this.#sum(service => service.cacheCounts().misses),
			droppedLogLines: options.droppedLogLines,
			resumed: () => this.replicas?.resumed ?? 0,
			forwarded: () => this.replicas?.forwarder.counts.forwarded ?? 0,
			forwardFailures: () => this.replicas?.forwarder.counts.failed ?? 0,
		});
	}

	/** The service with this name, or all of them as one. */
	find(name: string): Service | undefined {
		return name === ALL ? this.#all : this.services.get(name);
	}

	#sum(read: (service: Service) => number): number {
		return [...this.services.values()].reduce((sum, service) => sum + read(service), 0);
	}

	status(): {readonly [key: string]: unknown} {
		const counts = new Map<string, number>();
		for (const {conversation} of this.sessions.values()) {
			const {name} = conversation.service.config;
			counts.set(name, (counts.get(name) ?? 0) + 1);
		}
		const services = [...this.services].map(([name, service]) => [
			name,
			statusOf(service, counts.get(name) ?? 0),
		]);
		const hub = {expose: this.config.expose, sessions: counts.get(ALL) ?? 0};
		return {services: Object.fromEntries(services), hub, sessions: this.sessions.size};
	}

	/**
	 * Takes another configuration on. Services that are the same in it are not touched. It goes on listening where it does,
	 * so what others can reach stays as guarded as it has to be.
	 */
	async reload(next: Config): Promise<void> {
		const {services: old, replicas: before} = this;
		const {listen} = this.config;
		if (!isLoopback(listen.host) && next.tokens.length === 0) throw unguarded(listen);
		if (listenText(next.listen) !== listenText(listen))
			this.log.warn('config.listen', `${listenText(listen)} is listened on until bridge is started again.`, {
				listen: listenText(listen),
				wanted: listenText(next.listen),
			});
		const config = {...next, listen};
		await this.#regroup(config);
		this.config = config;
		this.guard = guardOf(config, this.#options.userToken);
		// One who is no longer alone, or is from now on, cannot read the ids that it has given.
		const isReadable = this.replicas === before;
		this.services = this.#servicesOf(config, isReadable ? old : new Map());
		const kept = new Set([...this.services.values(), ...(isReadable ? [this.#all] : [])]);
		await this.#hub.update(config, this.services);
		await this.sessions.endWhere(({conversation}) => !kept.has(conversation.service));
		for (const service of old.values()) if (!kept.has(service)) await service.close();
	}

	/** Has to do with others as a configuration says. */
	async #regroup(config: Config): Promise<void> {
		if (isSameSet(config, this.config)) return;
		const before = this.replicas;
		const after = await this.#options.replicasOf?.(config, before);
		if (after === before) return;
		this.#join(after);
		await before?.close();
	}

	#join(replicas: Replicas | undefined): void {
		this.replicas = replicas;
		replicas?.whenLost(() => void this.sessions.endWhere(isOwned));
	}

	#servicesOf(config: Config, old: ReadonlyMap<string, Service>): Map<string, Service> {
		return servicesOf(config, this.#serviceOptions(config), old);
	}

	#serviceOptions(config: Config): ServiceOptions {
		const {log, onStderr} = this.#options;
		const shelfFor = () => this.replicas?.shelfFor;
		const isDraining = (): boolean => this.isDraining;
		return {log, onStderr, maxBytes: config.limits.messageBytes, shelfFor, isDraining};
	}

	/** Takes nothing new on. Who looks whether it is ready can tell. */
	drain(): void {
		this.isDraining = true;
	}

	/**
	 * Lets go of the sessions that no other replica could carry on: at once where nothing is under way, and where something
	 * is, nothing new is begun. Their clients are told so, while there still is somebody to tell them.
	 */
	leave(): void {
		this.isLeaving = true;
		this.#sendAway();
		void this.sessions.endWhere(({conversation}) => conversation.isFixed && !isAwaited(conversation));
	}

	/** Lets what is under way come to its end, and ends it if it does not by the time `hurry` resolves. */
	async close(hurry: Promise<unknown>): Promise<void> {
		this.drain();
		await this.view.close();
		this.#sendAway();
		await Promise.race([this.answered(), hurry]);
		await this.sessions.close();
		await this.#hub.close();
		for (const service of this.services.values()) await service.close();
		await this.replicas?.close();
	}

	/** Who only listens is to listen elsewhere. */
	#sendAway(): void {
		for (const {client} of this.sessions.values()) client.sendAway?.();
	}

	/**
	 * Resolves when other replicas have handed nothing on for so many looks in a row, each of which reads all that has come:
	 * those that did have been told that there is no use.
	 */
	async unasked(looks: number): Promise<void> {
		const received = (): number => this.replicas?.hop.received ?? 0;
		for (let [left, before] = [looks, received()]; left > 0; left--) {
			await pause(POLL_MS);
			if (received() !== before) [left, before] = [looks, received()];
		}
	}

	/** Resolves when all is answered that was asked, here or through here. */
	async answered(): Promise<void> {
		const isOwed = (): boolean =>
			[...this.sessions.values()].some(({conversation}) => isAwaited(conversation)) ||
			(this.replicas?.forwarder.isAwaited ?? false);
		while (isOwed()) await pause(POLL_MS);
	}
}

const POLL_MS = 20;
const isAwaited = ({waiting}: Conversation): boolean => waiting.areAwaited;

const guardOf = ({listen, advertise, origins, tokens}: Config, userToken: string | undefined): Guard =>
	new Guard({
		hosts: isAnyAddress(listen.host) ? ['*'] : [listen.host, ...(advertise ? [advertise.hostname] : [])],
		origins,
		tokens: tokens.length > 0 || userToken === undefined || listen.path !== undefined ? tokens : [userToken],
	});

/** Whether two configurations are of the same set of replicas. */
const isSameSet = (one: Config, other: Config): boolean =>
	one.secret === other.secret &&
	one.advertise?.href === other.advertise?.href &&
	one.store?.href === other.store?.href;

const unguarded = (listen: Listen): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`The configuration has no tokens, and bridge listens on ${listenText(listen)}, where others can reach it.`,
		'Start bridge again to listen elsewhere, or set tokens.',
	);

const isAnyAddress = (host: string): boolean => host === '0.0.0.0' || host === '::' || host === '[::]';
