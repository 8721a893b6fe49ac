import type {Envelope} from '../core/envelope.js';
import type {Log} from '../core/log.js';
import {startSpan} from '../core/span.js';
import type {ClientDescription} from '../protocol/negotiation.js';
import type {StartConversation} from '../upstream/conversation.js';
import type {Service} from '../upstream/service.js';
import type {JsonObject} from '../util/json.js';
import {pause} from '../util/pause.js';
import {HubUpstream} from './hub-upstream.js';

type HubUpstreamsOptions = {
	readonly log: Log;
	readonly startConversation: StartConversation;
	readonly clientToken: string;
	/** How long requests wait for upstreams that are still connecting. */
	readonly startupTimeoutMs: number;
	readonly onChange: (upstream: HubUpstream) => void;
	readonly onMessage: (upstream: HubUpstream, envelope: Envelope) => void;
};

/**
 * All upstreams of a hub, for one client. They are connected concurrently, once the client has sent
 * `initialize`.
 */
export class HubUpstreams {
	readonly #options: HubUpstreamsOptions;
	#byName = new Map<string, HubUpstream>();
	#clientDescription: ClientDescription | undefined;
	#meta: JsonObject = {};
	#services: ReadonlyMap<string, Service>;
	#addedCount = 0;
	#resolveSettled: () => void = () => {};
	/** Resolves when every upstream is connected or has failed, or after the startup timeout. */
	readonly settled: Promise<void>;

	constructor(services: ReadonlyMap<string, Service>, options: HubUpstreamsOptions) {
		this.#options = options;
		this.#services = services;
		this.settled = new Promise(resolve => {
			this.#resolveSettled = resolve;
		});
	}

	/** In the order of the configuration. */
	get all(): readonly HubUpstream[] {
		return [...this.#byName.values()];
	}

	/** The configured names, which are available before `start`. */
	get names(): readonly string[] {
		return [...this.#services.keys()];
	}

	get connected(): readonly HubUpstream[] {
		return this.all.filter(({state}) => state === 'connected');
	}

	get(name: string): HubUpstream | undefined {
		return this.#byName.get(name);
	}

	/** Connects to all upstreams on behalf of this client. `meta` is sent with each handshake. */
	start(clientDescription: ClientDescription, meta: JsonObject): void {
		if (this.#clientDescription) return;
		const {log, startupTimeoutMs} = this.#options;
		this.#clientDescription = clientDescription;
		this.#meta = meta;
		const initSpan = startSpan(log, 'proxy.init', {});
		for (const service of this.#services.values()) this.#add(service, clientDescription);
		const reportInit = (): void => {
			const {length: serverCount} = this.all.filter(({state}) => state !== 'disabled');
			const {length: connected} = this.connected;
			const toolCount = this.connected.reduce((sum, {tools}) => sum + tools.length, 0);
			const fields = {serverCount, connected, failed: serverCount - connected, toolCount};
			initSpan.succeed(
				`${connected} of ${serverCount} servers are connected, with ${toolCount} tools.`,
				fields,
			);
		};
		void Promise.race([this.#allSettled(), pause(startupTimeoutMs)]).then(() => {
			reportInit();
			this.#resolveSettled();
		});
	}

	/** Replaces the services. Upstreams of unchanged services are kept. */
	async update(services: ReadonlyMap<string, Service>): Promise<void> {
		this.#services = services;
		const clientDescription = this.#clientDescription;
		if (!clientDescription) return;
		const previous = this.#byName;
		this.#byName = new Map();
		for (const [name, service] of services) {
			const existing = previous.get(name);
			if (existing?.service === service) this.#byName.set(name, existing);
			else this.#add(service, clientDescription);
		}
		const removed = [...previous.values()].filter(upstream => this.#byName.get(upstream.name) !== upstream);
		for (const upstream of removed) this.#options.onChange(upstream);
		await Promise.all(removed.map(upstream => upstream.close()));
	}

	async close(): Promise<void> {
		const {log} = this.#options;
		const shutdownSpan = startSpan(log, 'proxy.shutdown', {serverCount: this.all.length});
		this.#resolveSettled();
		await Promise.all(this.all.map(upstream => upstream.close()));
		shutdownSpan.succeed('All servers are disconnected.');
	}

	#add(service: Service, clientDescription: ClientDescription): void {
		const {log, startConversation, clientToken, onMessage} = this.#options;
		const onChange = (upstream: HubUpstream): void => this.#onUpstreamChange(upstream);
		const upstream = new HubUpstream(service, {
			log,
			startConversation,
			clientDescription,
			meta: this.#meta,
			clientToken,
			onChange,
			onMessage,
		});
		this.#byName.set(upstream.name, upstream);
		this.#addedCount++;
		upstream.start();
	}

	#onUpstreamChange(upstream: HubUpstream): void {
		if (this.#byName.get(upstream.name) === upstream) this.#options.onChange(upstream);
	}

	/** Also waits for upstreams that are added in the meantime. */
	async #allSettled(): Promise<void> {
		for (let count = -1; count !== this.#addedCount; ) {
			count = this.#addedCount;
			await Promise.all(this.all.map(({settled}) => settled));
		}
	}
}
