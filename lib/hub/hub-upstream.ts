import {performance} from 'node:perf_hooks';
import {Envelope} from '../core/envelope.js';
import type {BridgeError} from '../core/errors.js';
import {type Log, logBug} from '../core/log.js';
import type {TracedSpan} from '../core/span.js';
import type {ClientDescription} from '../protocol/negotiation.js';
import {NEWEST_HANDSHAKE} from '../protocol/version.js';
import {messageOf} from '../run/program-error.js';
import {anonymousPrincipal, Conversation, type StartConversation} from '../upstream/conversation.js';
import type {Service} from '../upstream/service.js';
import type {UpstreamObserver} from '../upstream/service-health.js';
import {Backoff} from '../util/backoff.js';
import {type JsonObject, objectOf} from '../util/json.js';
import {pause} from '../util/pause.js';
import {truncated} from '../util/truncate.js';
import {connectSpan, reportConnected} from './connect-span.js';
import {failureReason, handshakeRejected, sharedConnectionClosed} from './upstream-errors.js';
import {type ListedItem, readTools} from './upstream-lists.js';
import {UpstreamRpcClient} from './upstream-rpc-client.js';

type HubUpstreamState = 'disabled' | 'connecting' | 'connected' | 'failed';

type HubUpstreamOptions = {
	readonly log: Log;
	readonly startConversation: StartConversation;
	/** The name and the capabilities of the hub's client. */
	readonly clientDescription: ClientDescription;
	readonly meta: JsonObject;
	readonly clientToken: string;
	/** Called when the upstream connects, disconnects or changes its tools. */
	readonly onChange: (upstream: HubUpstream) => void;
	readonly onMessage: (upstream: HubUpstream, envelope: Envelope) => void;
};

/**
 * The minimum time from the end of a tools/list read to the start of the next, after change notifications.
 */
const MIN_LIST_INTERVAL_MS = 1000;

const INITIALIZED_NOTIFICATION = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** One upstream of a hub. It is reconnected whenever it is lost. */
export class HubUpstream {
	readonly service: Service;
	readonly name: string;
	/** Sends requests to the upstream; undefined while there is no conversation. */
	rpc: UpstreamRpcClient | undefined;
	state: HubUpstreamState;
	reason: string | undefined;
	initializeResult: JsonObject = {};
	/** Resolves when the upstream is connected, has failed or is closed, whichever comes first. */
	readonly settled: Promise<void>;
	/**
	 * The tools that were listed last. They are kept while the upstream is disconnected, so that calls fail
	 * with the reason.
	 */
	tools: readonly ListedItem[] = [];
	readonly #options: HubUpstreamOptions;
	#conversation: Conversation | undefined;
	readonly #observer: UpstreamObserver = {
		onDisconnected: (error: BridgeError, isRetried: boolean) => this.#onDisconnected(error, isRetried),
		onReconnected: (result: JsonObject) => this.#onReconnected(result),
		onReinitialized: (result: JsonObject) => this.#onReinitialized(result),
	};
	#connectSpan: TracedSpan | undefined;
	#reconnectTimer: NodeJS.Timeout | undefined;
	readonly #backOff = new Backoff();
	#isClosed = false;
	#isListingTools = false;
	#isToolListStale = false;
	#isDisconnected = false;
	#resolveSettled: () => void = () => {};
	/** The earliest time of the next read after a change, by the monotonic clock. */
	#nextListAt = 0;

	constructor(service: Service, options: HubUpstreamOptions) {
		this.service = service;
		this.name = service.config.name;
		this.#options = options;
		this.state = service.config.enabled ? 'connecting' : 'disabled';
		this.settled = new Promise(resolve => {
			this.#resolveSettled = resolve;
		});
		if (this.state === 'disabled') this.#resolveSettled();
	}

	get type(): 'http' | 'stdio' {
		return this.service.config.transport === 'stdio' ? 'stdio' : 'http';
	}

	hasCapability(capability: string): boolean {
		return capability in objectOf(this.initializeResult.capabilities);
	}

	/** Starts to connect. The result is reported through `onChange`. */
	start(): void {
		if (this.state === 'disabled' || this.#isClosed) return;
		this.#connect().catch(error => logBug(this.#options.log, error));
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		this.#resolveSettled();
		clearTimeout(this.#reconnectTimer);
		await this.#endConversation();
	}

	/** Reads the tools again. Only one read runs at a time, however many notifications arrive. */
	refreshTools(): void {
		this.#isToolListStale = true;
		if (this.#isListingTools || this.state !== 'connected') return;
		void this.#relistTools();
	}

	async #connect(): Promise<void> {
		const {startConversation, clientDescription, meta: _meta, clientToken} = this.#options;
		this.#connectSpan ??= connectSpan(this.#options.log, this.service);
		this.#isDisconnected = false;
		const rpc = new UpstreamRpcClient({
			server: this.name,
			onMessage: envelope => this.#options.onMessage(this, envelope),
		});
		// Upstreams of the hub get the configured credentials only.
		const principal = {...anonymousPrincipal, token: clientToken};
		const conversation = new Conversation(this.service, principal, {
			isHubClient: true,
			observer: this.#observer,
		});
		this.rpc = rpc;
		this.#conversation = conversation;
		// A shared upstream may disconnect a single client.
		void rpc.disconnected.then(() => {
			if (this.rpc === rpc) void this.#failAndReconnect(sharedConnectionClosed(this.name));
		});
		try {
			conversation.start(rpc, startConversation);
			const {capabilities, info: clientInfo} = clientDescription;
			const params = {protocolVersion: NEWEST_HANDSHAKE, capabilities, clientInfo, _meta};
			const {result, error} = await rpc.request('initialize', params);
			if (error !== undefined) throw handshakeRejected(this.name, error);
			this.initializeResult = objectOf(result);
			rpc.sendMessage(Envelope.fromText(INITIALIZED_NOTIFICATION));
			this.tools = await this.#listTools(rpc);
			if (this.#isClosed || this.#isDisconnected || this.rpc !== rpc) return;
			this.#onConnected();
		} catch (error) {
			if (this.rpc === rpc) await this.#failAndReconnect(error);
		}
	}

	#onConnected(): void {
		this.#backOff.succeeded();
		this.state = 'connected';
		this.#isDisconnected = false;
		this.reason = undefined;
		this.#reportConnected(this.#connectSpan);
		this.#connectSpan = undefined;
		this.#resolveSettled();
		this.#options.onChange(this);
		if (this.#isToolListStale) this.refreshTools();
	}

	#reportConnected(span: TracedSpan | undefined): void {
		const {initializeResult, tools} = this;
		const negotiation = this.#conversation?.negotiation;
		reportConnected(span, this.service, {negotiation, initializeResult, toolCount: tools.length});
	}

	/** The process has exited, or the connection was lost. Requests are rejected until the upstream is back. */
	#onDisconnected(error: BridgeError, isRetried: boolean): void {
		if (this.#isClosed) return;
		this.#isDisconnected = true;
		this.#markFailed(error);
		if (!isRetried) void this.#failAndReconnect(error);
	}

	/** The upstream had lost the session. */
	#onReinitialized(result: JsonObject): void {
		this.initializeResult = result;
		if (!this.#isClosed) this.#reportConnected(connectSpan(this.#options.log, this.service));
	}

	#onReconnected(result: JsonObject): void {
		this.initializeResult = result;
		if (this.#isClosed || this.state === 'connected') return;
		this.#isToolListStale = true;
		this.#isDisconnected = false;
		void this.#relistTools().then(() => {
			if (!this.#isDisconnected && !this.#isClosed) this.#onConnected();
		});
	}

	/** Reconnects after a delay: the cause of the failure may be fixed in the meantime. */
	async #failAndReconnect(error: unknown): Promise<void> {
		if (this.#isClosed) return;
		// The error of the disconnect is more precise than that of a pending request.
		if (!this.#isDisconnected) this.#markFailed(error);
		await this.#endConversation();
		if (this.#isClosed) return;
		this.#reconnectTimer = setTimeout(() => this.start(), this.#backOff.nextDelayMs()).unref();
	}

	#markFailed(error: unknown): void {
		const reason = truncated(failureReason(error));
		const isNewReason = this.reason !== reason;
		this.state = 'failed';
		this.reason = reason;
		const sentence = `${this.name} is not available: ${reason}`;
		const {transport} = this.service.config;
		if (isNewReason) this.#connectSpan?.fail(sentence, error, {toolCount: 0, transport});
		else this.#options.log.debug('hub.unavailable', sentence, {server: this.name});
		this.#connectSpan = connectSpan(this.#options.log, this.service);
		this.#resolveSettled();
		this.#options.onChange(this);
	}

	/** Reads the tools, and again if they have changed in the meantime. Reads are rate-limited. */
	async #relistTools(): Promise<void> {
		const {rpc} = this;
		this.#isListingTools = true;
		try {
			await pause(Math.max(0, this.#nextListAt - performance.now()));
			if (rpc && this.rpc === rpc) this.tools = await this.#listTools(rpc);
		} catch (error) {
			const sentence = `${this.name} ${messageOf(error)}. Its previous tools are kept.`;
			this.#options.log.warn('hub.tools.failed', sentence, {server: this.name});
		} finally {
			this.#nextListAt = performance.now() + MIN_LIST_INTERVAL_MS;
			this.#isListingTools = false;
		}
		if (this.#isClosed) return;
		this.#options.onChange(this);
		if (this.#isToolListStale) this.refreshTools();
	}

	async #listTools(rpc: UpstreamRpcClient): Promise<readonly ListedItem[]> {
		this.#isToolListStale = false;
		const {name: server, tools: previous} = this;
		return readTools(rpc, {
			server,
			isDeclared: this.hasCapability('tools'),
			previous,
			log: this.#options.log,
		});
	}

	async #endConversation(): Promise<void> {
		const conversation = this.#conversation;
		const rpc = this.rpc;
		this.#conversation = undefined;
		this.rpc = undefined;
		await conversation?.end();
		await rpc?.close();
	}
}
