import type {ServiceConfig} from '../config/schema.js';
import type {Headers} from '../core/envelope.js';
import type {BridgeError} from '../core/errors.js';
import type {Log} from '../core/log.js';
import type {Endpoint} from '../core/stage.js';
import type {UpstreamControl} from '../core/upstream-control.js';
import {ALL_SERVICES} from '../http/target.js';
import type {ToolsCache} from '../operators/cache-tools/tools-cache.js';
import {handshakeTimeoutMs} from '../protocol/handshake-timeout.js';
import type {Negotiation} from '../protocol/negotiation.js';
import {ToolHeaderParameters} from '../protocol/tool-header-parameters.js';
import {STATELESS, type Version} from '../protocol/version.js';
import {child} from '../transports/process/child.js';
import {passVariableHint} from '../transports/process/environment.js';
import {BoundedMap} from '../util/bounded-map.js';
import type {JsonObject} from '../util/json.js';
import {remoteUpstream} from './remote.js';
import {restartingUpstream} from './restart.js';
import type {RestartOptions} from './restart-options.js';
import {reportReinitialized, type ServiceHealth, type UpstreamObserver} from './service-health.js';
import {
	MAX_TOOLS_CACHES,
	ServiceToolsCaches,
	type ServiceToolsCachesOptions,
} from './service-tools-caches.js';
import {SharedUpstream} from './share/shared-upstream.js';
import {startQueueOf} from './start-queue.js';

export type ServiceOptions = {
	readonly log: Log;
	/** Whether bridge is shutting down. No process is started then. */
	readonly isDraining?: () => boolean;
	readonly maxBytes: number;
	readonly toolListStoreFor?: ServiceToolsCachesOptions['toolListStoreFor'];
	readonly onStderr: (server: string, chunk: Buffer) => Promise<void> | undefined | void;
};

type OpenServiceOptions = {
	readonly observer?: UpstreamObserver | undefined;
	readonly upstreamControl?: UpstreamControl | undefined;
	/** The client's gateway token, for quotas. */
	readonly token?: string;
};

export type OpenInProcess = (negotiation: Negotiation, token: string) => Endpoint;

/** A configured service: how to connect to its upstream, and its observed state. */
export class Service {
	readonly config: ServiceConfig;
	readonly health: ServiceHealth = {toolCount: undefined, restarts: 0, isFailed: false, lastError: undefined};
	readonly #options: ServiceOptions;
	readonly #sharedUpstream: SharedUpstream | undefined;
	readonly #openInProcess: OpenInProcess | undefined;
	readonly #negotiations = new Set<Negotiation>();
	/** Losses of ended conversations, by feature. */
	readonly #endedLosses = new Map<string, number>();
	lastNegotiation: Negotiation | undefined;
	children = 0;
	readonly #toolsCaches: ServiceToolsCaches;
	readonly #toolParameters = new BoundedMap<string, ToolHeaderParameters>(MAX_TOOLS_CACHES);

	constructor(config: ServiceConfig, options: ServiceOptions, openInProcess?: OpenInProcess) {
		const {name, targetVersion, shared, transport} = config;
		this.config = config;
		this.#options = options;
		this.#openInProcess = openInProcess;
		const {log, toolListStoreFor, isDraining} = options;
		this.#toolsCaches = new ServiceToolsCaches({upstream: name, log, toolListStoreFor});
		if (shared && transport === 'stdio')
			this.#sharedUpstream = new SharedUpstream({
				name,
				log,
				targetVersion,
				isDraining,
				open: () => this.#start(),
				timeoutMs: handshakeTimeoutMs(config.timeoutMs),
				timeoutSetting: this.timeoutSetting,
			});
	}

	/** The configuration key or flag that sets the request timeout. */
	get timeoutSetting(): string {
		const {name, timeoutSetting} = this.config;
		return timeoutSetting ?? `servers.${name}.timeout`;
	}

	get path(): string {
		const {name} = this.config;
		return name === ALL_SERVICES ? '/mcp' : `/mcp/${name}`;
	}

	get isHttp(): boolean {
		return this.config.transport === 'http' || this.config.transport === 'sse';
	}

	get restarts(): number {
		return this.health.restarts + (this.#sharedUpstream?.state.restarts ?? 0);
	}

	get lastError(): string | undefined {
		return this.#sharedUpstream?.state.lastError ?? this.health.lastError;
	}

	/** The upstream's version. A shared stateless upstream appears to each client as if it had a handshake. */
	get version(): Version | undefined {
		return this.#sharedUpstream?.state.version === STATELESS
			? STATELESS
			: this.lastNegotiation?.upstreamVersion;
	}

	get state(): 'disabled' | 'failed' | 'ready' | 'connecting' | 'idle' {
		if (!this.config.enabled) return 'disabled';
		if (this.health.isFailed) return 'failed';
		if (this.lastNegotiation?.isReady) return 'ready';
		return this.#negotiations.size > 0 ? 'connecting' : 'idle';
	}

	/** The number of losses, by feature. */
	losses(): ReadonlyMap<string, number> {
		const all = new Map(this.#endedLosses);
		for (const {losses} of this.#negotiations) addLosses(all, losses);
		return all;
	}

	/** Registers a conversation. Returns a function that unregisters it. */
	addConversation(negotiation: Negotiation): () => void {
		this.#negotiations.add(negotiation);
		negotiation.whenReady(() => {
			this.lastNegotiation = negotiation;
		});
		return () => {
			if (this.#negotiations.delete(negotiation)) addLosses(this.#endedLosses, negotiation.losses);
		};
	}

	markReachable(negotiation: Negotiation): void {
		this.health.isFailed = false;
		if (negotiation.isReady) this.lastNegotiation = negotiation;
	}

	toolsCacheFor(principal: string): ToolsCache | undefined {
		if (!this.config.cacheTools) return;
		return this.#toolsCaches.forPrincipal(principal);
	}

	/** Returns the tool arguments that are sent as headers, as this principal sees them. */
	toolParametersFor(principal: string): ToolHeaderParameters {
		const parameters = this.#toolParameters.get(principal) ?? new ToolHeaderParameters();
		this.#toolParameters.set(principal, parameters);
		return parameters;
	}

	toolsCacheCounts(): {readonly hits: number; readonly misses: number} {
		return this.#toolsCaches.counts();
	}

	open(
		negotiation: Negotiation,
		authorization: string | undefined,
		options: OpenServiceOptions = {},
	): Endpoint {
		const {observer, upstreamControl, token = ''} = options;
		const {name, url, transport, isTransportGuessed: isGuessed} = this.config;
		const {log, maxBytes, isDraining} = this.#options;
		if (this.#openInProcess) return this.#openInProcess(negotiation, token);
		if (this.#sharedUpstream)
			return this.#sharedUpstream.attach('client', reportReinitialized(negotiation, observer));
		const common: Omit<RestartOptions, 'open' | 'starts'> = {
			name,
			log,
			isDraining,
			ownId: () => negotiation.nextRequestId(),
			handshakeMs: handshakeTimeoutMs(this.config.timeoutMs),
			retranslate: (...args: Parameters<Negotiation['retranslate']>) => negotiation.retranslate(...args),
			onReinitialized: (result: JsonObject, durationMs: number) => {
				this.recordReinitialized(negotiation, result, durationMs);
				observer?.onReconnected(result);
			},
			onDisconnect: (error: BridgeError, isRetried: boolean) => {
				this.markFailed(error.reason);
				observer?.onDisconnected(error, isRetried);
			},
		};
		if (transport === 'stdio' || !url) {
			let starts = 0;
			const open = (): Endpoint => {
				if (starts++ > 0) this.health.restarts++;
				return this.#start();
			};
			const onReconnected = (result: JsonObject, durationMs: number): void => {
				this.#recordReconnected(negotiation, result, durationMs);
				observer?.onReconnected(result);
			};
			return restartingUpstream({
				...common,
				open,
				onReinitialized: onReconnected,
				starts: startQueueOf(token),
			});
		}
		return remoteUpstream({
			...common,
			url,
			maxBytes,
			transport,
			isTransportGuessed: isGuessed,
			headers: () => this.#headers(authorization),
			upstreamControl,
			onSse: () => {
				negotiation.transport = 'sse';
			},
		});
	}

	#start(): Endpoint {
		const {name, command = '', args, env, cwd} = this.config;
		const {maxBytes, onStderr} = this.#options;
		const started = child({
			name,
			command,
			args,
			env,
			cwd,
			maxBytes,
			passHint: passVariableHint(name),
			onStderr: chunk => onStderr(name, chunk),
		});
		this.children++;
		const ended = (): void => {
			this.children--;
		};
		started.exited.then(ended, ended);
		return started;
	}

	/** The headers of a long-lived connection to the upstream. */
	#headers(authorization: string | undefined): Headers {
		const {headers, passAuthorization} = this.config;
		return {...(passAuthorization && authorization !== undefined ? {authorization} : {}), ...headers};
	}

	/** Records a re-initialization, possibly with another version. It counts as a restart. */
	recordReinitialized(negotiation: Negotiation, result: JsonObject, durationMs: number): void {
		this.#recordReconnected(negotiation, result, durationMs);
		this.health.restarts++;
	}

	#recordReconnected(negotiation: Negotiation, result: JsonObject, durationMs: number): void {
		negotiation.reinitialized(result, durationMs);
		this.health.isFailed = false;
	}

	async close(): Promise<void> {
		await this.#sharedUpstream?.close();
	}

	/** Records a failure. Without a reason, it keeps the one that was recorded when the process exited. */
	markFailed(reason: string | undefined): void {
		this.health.isFailed = true;
		this.health.lastError = reason ?? this.health.lastError;
	}

	setToolCount(tools: number): void {
		this.health.toolCount = tools;
	}
}

function addLosses(to: Map<string, number>, losses: ReadonlyMap<string, number>): void {
	for (const [feature, count] of losses) to.set(feature, (to.get(feature) ?? 0) + count);
}
