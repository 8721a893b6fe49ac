import type {Envelope} from '../envelope.js';
import type {Converse} from '../gateway/conversation.js';
import type {Service} from '../gateway/service.js';
import type {Log} from '../log.js';
import {pause} from '../pause.js';
import type {JsonObject} from '../protocol/json.js';
import type {Introduction} from '../protocol/session.js';
import {span} from '../span.js';
import {Member} from './member.js';

export type MembersOptions = {
	readonly log: Log;
	readonly converse: Converse;
	/** The token of the client, for quotas. */
	readonly client: string;
	/** How long all of them may take before what there is is told without the others. */
	readonly startupTimeoutMs: number;
	readonly onChange: (member: Member) => void;
	readonly onMessage: (member: Member, envelope: Envelope) => void;
};

/** All servers of a hub, for one client. They are connected to side by side, when it is known who that client is. */
export class Members {
	readonly #options: MembersOptions;
	#all = new Map<string, Member>();
	#introduction: Introduction | undefined;
	#meta: JsonObject = {};
	#services: ReadonlyMap<string, Service>;
	/** How many have been added so far. */
	#joined = 0;
	#resolveSettled: () => void = () => {};
	/** Resolves when each server is there or has failed, or has had its time. */
	readonly settled: Promise<void>;

	constructor(services: ReadonlyMap<string, Service>, options: MembersOptions) {
		this.#options = options;
		this.#services = services;
		this.settled = new Promise(resolve => {
			this.#resolveSettled = resolve;
		});
	}

	/** In the order in which they are configured. */
	get all(): readonly Member[] {
		return [...this.#all.values()];
	}

	/** Those that are configured, also before it is known who asks for them. */
	get names(): readonly string[] {
		return [...this.#services.keys()];
	}

	get connected(): readonly Member[] {
		return this.all.filter(({state}) => state === 'connected');
	}

	get(name: string): Member | undefined {
		return this.#all.get(name);
	}

	/** Connects to all servers, in the name of this client. `meta` is told with each handshake. */
	start(introduction: Introduction, meta: JsonObject): void {
		if (this.#introduction) return;
		const {log, startupTimeoutMs} = this.#options;
		this.#introduction = introduction;
		this.#meta = meta;
		const init = span(log, 'proxy.init', {});
		for (const service of this.#services.values()) this.#add(service, introduction);
		const tellOfInit = (): void => {
			const {length: serverCount} = this.all.filter(({state}) => state !== 'disabled');
			const {length: connected} = this.connected;
			const toolCount = this.connected.reduce((sum, {tools}) => sum + tools.length, 0);
			const facts = {serverCount, connected, failed: serverCount - connected, toolCount};
			init.succeed(`${connected} of ${serverCount} servers are connected, with ${toolCount} tools.`, facts);
		};
		void Promise.race([this.#allSettled(), pause(startupTimeoutMs)]).then(() => {
			tellOfInit();
			this.#resolveSettled();
		});
	}

	/** Takes other services on. Members whose services are the same are not touched. */
	async update(services: ReadonlyMap<string, Service>): Promise<void> {
		this.#services = services;
		const introduction = this.#introduction;
		if (!introduction) return;
		const before = this.#all;
		this.#all = new Map();
		for (const [name, service] of services) {
			const known = before.get(name);
			if (known?.service === service) this.#all.set(name, known);
			else this.#add(service, introduction);
		}
		const gone = [...before.values()].filter(member => this.#all.get(member.name) !== member);
		for (const member of gone) this.#options.onChange(member);
		await Promise.all(gone.map(member => member.close()));
	}

	/** Ends the conversations with all of them, and all that was started for them. */
	async close(): Promise<void> {
		const {log} = this.#options;
		const shutdown = span(log, 'proxy.shutdown', {serverCount: this.all.length});
		this.#resolveSettled();
		await Promise.all(this.all.map(member => member.close()));
		shutdown.succeed('All servers are disconnected.');
	}

	#add(service: Service, introduction: Introduction): void {
		const {log, converse, client, onMessage} = this.#options;
		const onChange = (member: Member): void => this.#changed(member);
		const member = new Member(service, {
			log,
			converse,
			introduction,
			meta: this.#meta,
			client,
			onChange,
			onMessage,
		});
		this.#all.set(member.name, member);
		this.#joined++;
		member.start();
	}

	#changed(member: Member): void {
		if (this.#all.get(member.name) === member) this.#options.onChange(member);
	}

	/** Members that join meanwhile are waited for as well. */
	async #allSettled(): Promise<void> {
		for (let known = -1; known !== this.#joined; ) {
			known = this.#joined;
			await Promise.all(this.all.map(({settled}) => settled));
		}
	}
}
