import {BoundedMap} from '../bounded-map.js';
import type {ServiceConfig} from '../config/schema.js';
import type {Headers} from '../envelope.js';
import type {BridgeError} from '../errors.js';
import {handshakeLimit} from '../handshake-limit.js';
import {ALL} from '../http/target.js';
import type {Log} from '../log.js';
import type {JsonObject} from '../protocol/json.js';
import type {Session} from '../protocol/session.js';
import {ToolParameters} from '../protocol/tool-parameters.js';
import {MODERN, type Version} from '../protocol/version.js';
import type {Endpoint} from '../stage.js';
import type {ToolsCache} from '../tools-cache.js';
import type {Carriage} from '../transports/carriage.js';
import {child} from '../transports/child.js';
import {passInConfiguration} from '../transports/environment.js';
import {remote} from '../transports/remote.js';
import type {RevivedOptions} from '../transports/revived-options.js';
import {revived} from '../transports/revived.js';
import {SharedUpstream} from '../transports/shared.js';
import {startsOf} from '../transports/starts.js';
import {reportRenewed, type Seen, type Watch} from './seen.js';
import {MAX_CACHES, ToolCaches, type ToolCachesOptions} from './tool-caches.js';

export type ServiceOptions = {
	readonly log: Log;
	/** Whether bridge is about to end, so that no process is started any more. */
	readonly isDraining?: () => boolean;
	readonly maxBytes: number;
	readonly shelfFor?: ToolCachesOptions['shelfFor'];
	readonly onStderr: (server: string, chunk: Buffer) => Promise<void> | undefined | void;
};

export type OpenOptions = {
	readonly watch?: Watch | undefined;
	readonly carriage?: Carriage | undefined;
	/** The token of the client, for quotas. */
	readonly token?: string;
};

/** Makes a connection to a server that is in this process. */
export type Opener = (session: Session, token: string) => Endpoint;

/** A configured server: how to reach it, and what has been seen of it. */
export class Service {
	readonly config: ServiceConfig;
	readonly seen: Seen = {toolCount: undefined, restarts: 0, isFailed: false, lastError: undefined};
	readonly #options: ServiceOptions;
	readonly #shared: SharedUpstream | undefined;
	readonly #own: Opener | undefined;
	readonly #conversations = new Set<Session>();
	/** Of conversations that are over. */
	readonly #losses = new Map<string, number>();
	lastSession: Session | undefined;
	/** Child processes that run for it. */
	children = 0;
	readonly #caches: ToolCaches;
	readonly #parameters = new BoundedMap<string, ToolParameters>(MAX_CACHES);

	constructor(config: ServiceConfig, options: ServiceOptions, own?: Opener) {
		const {name, targetVersion, shared, transport} = config;
		this.config = config;
		this.#options = options;
		this.#own = own;
		const {log, shelfFor, isDraining} = options;
		this.#caches = new ToolCaches({server: name, log, shelfFor});
		if (shared && transport === 'stdio')
			this.#shared = new SharedUpstream({
				name,
				log,
				targetVersion,
				isDraining,
				open: () => this.#start(),
				timeoutMs: handshakeLimit(config.timeoutMs),
				timeoutSetting: this.timeoutSetting,
			});
	}

	/** The key or the flag that sets the time for one request. */
	get timeoutSetting(): string {
		const {name, timeoutSetting} = this.config;
		return timeoutSetting ?? `servers.${name}.timeout`;
	}

	/** Where its clients find it. */
	get path(): string {
		const {name} = this.config;
		return name === ALL ? '/mcp' : `/mcp/${name}`;
	}

	get isHttp(): boolean {
		return this.config.transport === 'http' || this.config.transport === 'sse';
	}

	get restarts(): number {
		return this.seen.restarts + (this.#shared?.state.restarts ?? 0);
	}

	get lastError(): string | undefined {
		return this.#shared?.state.lastError ?? this.seen.lastError;
	}

	/** What it speaks. One that is shared and knows no handshake looks to each client as if it did. */
	get version(): Version | undefined {
		return this.#shared?.state.version === MODERN ? MODERN : this.lastSession?.upstream;
	}

	get state(): 'disabled' | 'failed' | 'ready' | 'connecting' | 'idle' {
		if (!this.config.enabled) return 'disabled';
		if (this.seen.isFailed) return 'failed';
		if (this.lastSession?.isReady) return 'ready';
		return this.#conversations.size > 0 ? 'connecting' : 'idle';
	}

	/** What could not be carried, and how often. */
	losses(): ReadonlyMap<string, number> {
		const all = new Map(this.#losses);
		for (const {losses} of this.#conversations) add(all, losses);
		return all;
	}

	/** A conversation begins. To be told of its end. */
	begun(session: Session): () => void {
		this.#conversations.add(session);
		session.whenReady(() => {
			this.lastSession = session;
		});
		return () => {
			if (this.#conversations.delete(session)) add(this.#losses, session.losses);
		};
	}

	/** Something was heard of it, so it is there. */
	heard(session: Session): void {
		this.seen.isFailed = false;
		if (session.isReady) this.lastSession = session;
	}

	/** Where the tools are kept for callers with this credential. */
	cacheFor(principal: string): ToolsCache | undefined {
		if (!this.config.cacheTools) return;
		return this.#caches.for(principal);
	}

	/** What callers with this credential know of arguments that stand in headers. */
	parametersFor(principal: string): ToolParameters {
		const parameters = this.#parameters.get(principal) ?? new ToolParameters();
		this.#parameters.set(principal, parameters);
		return parameters;
	}

	/** How many requests for the tools were answered from what is kept, and how many were not. */
	cacheCounts(): {readonly hits: number; readonly misses: number} {
		return this.#caches.counts();
	}

	/** A connection for one conversation. */
	open(session: Session, authorization: string | undefined, options: OpenOptions = {}): Endpoint {
		const {watch, carriage, token = ''} = options;
		const {name, url, transport, isTransportGuessed: isGuessed} = this.config;
		const {log, maxBytes, isDraining} = this.#options;
		if (this.#own) return this.#own(session, token);
		if (this.#shared) return this.#shared.attach('client', reportRenewed(session, watch));
		const common: Omit<RevivedOptions, 'open' | 'starts'> = {
			name,
			log,
			isDraining,
			ownId: () => session.ownId(),
			handshakeMs: handshakeLimit(this.config.timeoutMs),
			again: (...said: Parameters<Session['translate']>) => session.translate(...said),
			onRevived: (result: JsonObject, durationMs: number) => {
				this.renewed(session, result, durationMs);
				watch?.onRevived(result);
			},
			onLoss: (error: BridgeError, isRetried: boolean) => {
				this.failed(error.reason);
				watch?.onLoss(error, isRetried);
			},
		};
		if (transport === 'stdio' || !url) {
			let starts = 0;
			const open = (): Endpoint => {
				if (starts++ > 0) this.seen.restarts++;
				return this.#start();
			};
			const onRevived = (result: JsonObject, durationMs: number): void => {
				this.#revived(session, result, durationMs);
				watch?.onRevived(result);
			};
			return revived({...common, open, onRevived, starts: startsOf(token)});
		}
		return remote({
			...common,
			url,
			maxBytes,
			transport,
			isGuessed,
			headers: () => this.#headers(authorization),
			carriage,
			onSse: () => {
				session.transport = 'sse';
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
			passWith: passInConfiguration(name),
			onStderr: chunk => onStderr(name, chunk),
		});
		this.children++;
		const ended = (): void => {
			this.children--;
		};
		started.exited.then(ended, ended);
		return started;
	}

	/** The headers of a connection that stays, as its server is to see them. */
	#headers(authorization: string | undefined): Headers {
		const {headers, passAuthorization} = this.config;
		return {...(passAuthorization && authorization !== undefined ? {authorization} : {}), ...headers};
	}

	/** It has responded to a new handshake, perhaps with another version. */
	renewed(session: Session, result: JsonObject, durationMs: number): void {
		this.#revived(session, result, durationMs);
		this.seen.restarts++;
	}

	#revived(session: Session, result: JsonObject, durationMs: number): void {
		session.renewed(result, durationMs);
		this.seen.isFailed = false;
	}

	/** Ends what serves several clients. */
	async close(): Promise<void> {
		await this.#shared?.close();
	}

	/** It failed, for this reason, or for the one that was reported when its process ended. */
	failed(reason: string | undefined): void {
		this.seen.isFailed = true;
		this.seen.lastError = reason ?? this.seen.lastError;
	}

	/** A client was shown so many tools. */
	showed(tools: number): void {
		this.seen.toolCount = tools;
	}
}

function add(to: Map<string, number>, losses: ReadonlyMap<string, number>): void {
	for (const [feature, count] of losses) to.set(feature, (to.get(feature) ?? 0) + count);
}
