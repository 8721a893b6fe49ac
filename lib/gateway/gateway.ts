import {formatListenAddress, type ListenAddress} from '../config/listen-address.js';
import type {Config} from '../config/schema.js';
import {BridgeError} from '../core/errors.js';
import type {LiveTraffic} from '../core/live-traffic.js';
import type {Log} from '../core/log.js';
import {Guard} from '../http/guard.js';
import {ALL_SERVICES} from '../http/target.js';
import {Hub, type HubOptions} from '../hub/hub.js';
import {hubServiceConfig} from '../hub/hub-service-config.js';
import type {Conversation, StartConversation} from '../upstream/conversation.js';
import {type OpenInProcess, Service, type ServiceOptions} from '../upstream/service.js';
import {createServices} from '../upstream/services.js';
import {isLoopback} from '../util/loopback.js';
import {pause} from '../util/pause.js';
import type {ViewRoutes} from '../view/view-routes.js';
import {ClientSessions} from './client-sessions.js';
import {isOwnedSession} from './cluster/is-owned-session.js';
import type {Replicas} from './cluster/replicas.js';
import {createLiveView} from './live-view.js';
import {GatewayMetrics} from './metrics.js';
import {PrincipalRateLimiter} from './principal-rate-limiter.js';
import {RequestQuotas} from './request-quotas.js';
import {serviceStatus} from './status.js';

export type GatewayOptions = {
	readonly config: Config;
	readonly log: Log;
	readonly startConversation: StartConversation;
	readonly live: LiveTraffic;
	readonly onStderr: ServiceOptions['onStderr'];
	readonly createRunner: HubOptions['createRunner'];
	readonly version: string;
	/** The files of the web page, and the worker module that indexes the traffic for it. */
	readonly page?: {readonly files: URL; readonly worker: URL};
	readonly droppedLogLines: () => number;
	/** Opens the endpoint at /mcp. By default, that is a session of the hub. */
	readonly openAllServices?: OpenInProcess;
	/**
	 * Returns the replicas of a configuration; undefined for a single gateway. `before` are the current ones.
	 */
	readonly configureReplicas?: (
		config: Config,
		before: Replicas | undefined,
	) => Promise<Replicas | undefined>;
	readonly replicas?: Replicas | undefined;
	/**
	 * The token of this user, where the system does not list the owners of connections. Used while no tokens
	 * are configured.
	 */
	readonly userToken?: string | undefined;
};

/** All services behind one HTTP server, and the sessions of their clients. */
export class Gateway {
	readonly #options: GatewayOptions;
	readonly sessions: ClientSessions;
	readonly metrics: GatewayMetrics;
	readonly rateLimiter: PrincipalRateLimiter;
	/**
	 * The quotas of each principal: for pending requests; and for open HTTP requests, streams and WebSockets.
	 */
	readonly pendingQuotas = new RequestQuotas(() => this.config.limits.clientRequests);
	readonly openQuotas = new RequestQuotas(() => this.config.limits.clientRequests);
	readonly log: Log;
	readonly startConversation: StartConversation;
	readonly live: LiveTraffic;
	readonly view: ViewRoutes;
	config: Config;
	guard: Guard;
	services: ReadonlyMap<string, Service>;
	readonly #hub: Hub;
	readonly #allServices: Service;
	replicas: Replicas | undefined;
	/** Whether the gateway is shutting down and accepts no new sessions. */
	isDraining = false;
	/** Whether sessions that no other replica can resume accept no new requests. */
	isLeaving = false;

	constructor(options: GatewayOptions) {
		const {config, log, startConversation} = options;
		this.#options = options;
		this.log = log;
		this.startConversation = startConversation;
		this.live = options.live;
		this.view = createLiveView(options, () => this.guard.needsToken);
		this.#join(options.replicas);
		this.config = config;
		this.guard = createGuard(config, options.userToken);
		this.services = this.#servicesOf(config, new Map());
		const {services} = this;
		const {createRunner, version} = options;
		this.#hub = new Hub({config, log, startConversation, services, createRunner, version});
		const openAllServices = options.openAllServices ?? ((_session, client) => this.#hub.openSession(client));
		this.#allServices = new Service(hubServiceConfig, this.#serviceOptions(config), openAllServices);
		this.sessions = new ClientSessions({log, limits: () => this.config.limits});
		this.rateLimiter = new PrincipalRateLimiter({
			limit: () => this.config.limits.rate,
			store: () => this.replicas?.store,
		});
		this.metrics = new GatewayMetrics({
			sessions: () => this.sessions.size,
			children: () => this.#sumOverServices(service => service.children),
			cacheHits: () => this.#sumOverServices(service => service.toolsCacheCounts().hits),
			cacheMisses: () => this.#sumOverServices(service => service.toolsCacheCounts().misses),
			droppedLogLines: options.droppedLogLines,
			resumed: () => this.replicas?.resumedCount ?? 0,
			forwarded: () => this.replicas?.forwarder.counts.forwarded ?? 0,
			forwardFailures: () => this.replicas?.forwarder.counts.failed ?? 0,
		});
	}

	/** Returns the service with this name, or the hub for `ALL_SERVICES`. */
	findService(name: string): Service | undefined {
		return name === ALL_SERVICES ? this.#allServices : this.services.get(name);
	}

	#sumOverServices(read: (service: Service) => number): number {
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
			serviceStatus(service, counts.get(name) ?? 0),
		]);
		const hub = {expose: this.config.expose, sessions: counts.get(ALL_SERVICES) ?? 0};
		return {services: Object.fromEntries(services), hub, sessions: this.sessions.size};
	}

	/**
	 * Applies another configuration. Unchanged services keep running. The listen address stays the same, so
	 * tokens remain required if other machines can reach it.
	 */
	async reload(next: Config): Promise<void> {
		const {services: old, replicas: previousReplicas} = this;
		const {listen} = this.config;
		if (!isLoopback(listen.host) && next.tokens.length === 0) throw missingTokensError(listen);
		if (formatListenAddress(next.listen) !== formatListenAddress(listen))
			this.log.warn(
				'config.listen',
				`bridge keeps listening on ${formatListenAddress(listen)}. Restart it to use the new address.`,
				{
					listen: formatListenAddress(listen),
					wanted: formatListenAddress(next.listen),
				},
			);
		const config = {...next, listen};
		await this.#reconfigureReplicas(config);
		this.config = config;
		this.guard = createGuard(config, this.#options.userToken);
		// A gateway that starts or stops being a replica cannot read the ids that it issued before.
		const isReadable = this.replicas === previousReplicas;
		this.services = this.#servicesOf(config, isReadable ? old : new Map());
		const retained = new Set([...this.services.values(), ...(isReadable ? [this.#allServices] : [])]);
		await this.#hub.update(config, this.services);
		await this.sessions.endWhere(({conversation}) => !retained.has(conversation.service));
		for (const service of old.values()) if (!retained.has(service)) await service.close();
	}

	async #reconfigureReplicas(config: Config): Promise<void> {
		if (isSameReplicaSet(config, this.config)) return;
		const previous = this.replicas;
		const next = await this.#options.configureReplicas?.(config, previous);
		if (next === previous) return;
		this.#join(next);
		await previous?.close();
	}

	#join(replicas: Replicas | undefined): void {
		this.replicas = replicas;
		replicas?.onLeaseLost(() => void this.sessions.endWhere(isOwnedSession));
	}

	#servicesOf(config: Config, old: ReadonlyMap<string, Service>): Map<string, Service> {
		return createServices(config, this.#serviceOptions(config), old);
	}

	#serviceOptions(config: Config): ServiceOptions {
		const {log, onStderr} = this.#options;
		const toolListStoreFor = () => this.replicas?.toolListStoreFor;
		const isDraining = (): boolean => this.isDraining;
		return {log, onStderr, maxBytes: config.limits.messageBytes, toolListStoreFor, isDraining};
	}

	/** Accepts no new sessions from now on. `/readyz` reports this. */
	drain(): void {
		this.isDraining = true;
	}

	/**
	 * Ends the sessions that no other replica can resume, if they have no pending requests. The others accept
	 * no new requests. Clients get 404 for these sessions while this replica still runs.
	 */
	leave(): void {
		this.isLeaving = true;
		this.#closeListenStreams();
		void this.sessions.endWhere(
			({conversation}) => conversation.isReplicaBound && !hasPendingRequests(conversation),
		);
	}

	/** Closes the gateway after all pending requests have finished, or when `deadline` resolves. */
	async close(deadline: Promise<unknown>): Promise<void> {
		this.drain();
		await this.view.close();
		this.#closeListenStreams();
		await Promise.race([this.pendingSettled(), deadline]);
		await this.sessions.close();
		await this.#hub.close();
		for (const service of this.services.values()) await service.close();
		await this.replicas?.close();
	}

	/** Makes clients open their listen streams again, at another replica. */
	#closeListenStreams(): void {
		for (const {client} of this.sessions.values()) client.endStreamsWithRetry?.();
	}

	/**
	 * Resolves after this many polls in a row without a forwarded request; each poll interval is long enough
	 * to read all that has arrived. Other replicas stop forwarding when a response reports that this replica
	 * is leaving.
	 */
	async forwardingSettled(polls: number): Promise<void> {
		const received = (): number => this.replicas?.authentication.receivedCount ?? 0;
		for (let [left, lastReceived] = [polls, received()]; left > 0; left--) {
			await pause(POLL_INTERVAL_MS);
			if (received() !== lastReceived) [left, lastReceived] = [polls, received()];
		}
	}

	/** Resolves when no request is pending, at this replica or forwarded by it. */
	async pendingSettled(): Promise<void> {
		const hasPending = (): boolean =>
			[...this.sessions.values()].some(({conversation}) => hasPendingRequests(conversation)) ||
			(this.replicas?.forwarder.hasPending ?? false);
		while (hasPending()) await pause(POLL_INTERVAL_MS);
	}
}

const POLL_INTERVAL_MS = 20;
const hasPendingRequests = ({pendingRequests}: Conversation): boolean => pendingRequests.hasPending;

const createGuard = ({listen, advertise, origins, tokens}: Config, userToken: string | undefined): Guard =>
	new Guard({
		hosts: isAnyAddress(listen.host) ? ['*'] : [listen.host, ...(advertise ? [advertise.hostname] : [])],
		origins,
		tokens: tokens.length > 0 || userToken === undefined || listen.path !== undefined ? tokens : [userToken],
	});

const isSameReplicaSet = (a: Config, b: Config): boolean =>
	a.secret === b.secret && a.advertise?.href === b.advertise?.href && a.store?.href === b.store?.href;

const missingTokensError = (listen: ListenAddress): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`The configuration has no tokens, and bridge listens on ${formatListenAddress(listen)}, where others can reach it.`,
		'Set tokens, or restart bridge to listen on another address.',
	);

const isAnyAddress = (host: string): boolean => host === '0.0.0.0' || host === '::' || host === '[::]';
