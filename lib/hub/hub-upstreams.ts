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
	/** The token of the client, for quotas. */
	readonly clientToken: string;
	/** How long all of them may take before what there is is told without the others. */
	readonly startupTimeoutMs: number;
	readonly onChange: (member: HubUpstream) => void;
	readonly onMessage: (member: HubUpstream, envelope: Envelope) => void;
};

/** All servers of a hub, for one client. They are connected to side by side, when it is known who that client is. */
export class HubUpstreams {
	readonly #options: HubUpstreamsOptions;
	#byName = new Map<string, HubUpstream>();
	#clientDescription: ClientDescription | undefined;
	#meta: JsonObject = {};
	#services: ReadonlyMap<string, Service>;
	/** How many have been added so far. */
	#addedCount = 0;
	#resolveSettled: () => void = () => {};
	/** Resolves when each server is there or has failed, or has had its time. */
	readonly settled: Promise<void>;

	constructor(services: ReadonlyMap<string, Service>, options: HubUpstreamsOptions) {
		this.#options = options;
		this.#services = services;
		this.settled = new Promise(resolve => {
			this.#resolveSettled = resolve;
		});
	}

	/** In the order in which they are configured. */
	get all(): readonly HubUpstream[] {
		return [...this.#byName.values()];
	}

	/** Those that are configured, also before it is known who asks for them. */
	get names(): readonly string[] {
		return [...this.#services.keys()];
	}

	get connected(): readonly HubUpstream[] {
		return this.all.filter(({state}) => state === 'connected');
	}

	get(name: string): HubUpstream | undefined {
		return this.#byName.get(name);
	}

	/** Connects to all servers, in the name of this client. `meta` is told with each handshake. */
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
			const facts = {serverCount, connected, failed: serverCount - connected, toolCount};
			initSpan.succeed(
				`${connected} of ${serverCount} servers are connected, with ${toolCount} tools.`,
				facts,
			);
		};
		void Promise.race([this.#allSettled(), pause(startupTimeoutMs)]).then(() => {
			reportInit();
			this.#resolveSettled();
		});
	}

	/** Takes other services on. Members whose services are the same are not touched. */
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

	/** Ends the conversations with all of them, and all that was started for them. */
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

	/** Members that join meanwhile are waited for as well. */
	async #allSettled(): Promise<void> {
		for (let count = -1; count !== this.#addedCount; ) {
			count = this.#addedCount;
			await Promise.all(this.all.map(({settled}) => settled));
		}
	}
}
