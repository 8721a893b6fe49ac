import {randomUUID} from 'node:crypto';
import type {Config} from '../config/schema.js';
import {type Log, logBug} from '../core/log.js';
import type {Endpoint} from '../core/stage.js';
import type {StartConversation} from '../upstream/conversation.js';
import type {Service} from '../upstream/service.js';
import {HubSession} from './hub-session.js';
import {RunTool, type RunToolOptions} from './run-tool.js';

export type HubOptions = Pick<RunToolOptions, 'createRunner'> & {
	/** Identifies this hub, to detect that it is one of its own upstreams. */
	readonly id?: string;
	readonly version: string;
	readonly config: Config;
	readonly services: ReadonlyMap<string, Service>;
	readonly log: Log;
	readonly startConversation: StartConversation;
};

/**
 * All services as one MCP server. Each client has a separate session with each upstream; all clients share
 * the runner.
 */
export class Hub {
	readonly #options: HubOptions;
	readonly #runTool: RunTool;
	readonly #sessions = new Set<HubSession>();
	readonly #id: string;
	#config: Config;
	#services: ReadonlyMap<string, Service>;

	constructor(options: HubOptions) {
		const {config, services, log, createRunner} = options;
		this.#options = options;
		this.#id = options.id ?? randomUUID();
		this.#config = config;
		this.#services = services;
		const onChange = (): void => {
			for (const session of this.#sessions) session.invalidateLists();
		};
		this.#runTool = new RunTool({log, createRunner, onChange}, config);
	}

	/**
	 * Returns an endpoint that acts as one MCP server. Closing it ends the sessions and processes of this
	 * client.
	 */
	openSession(clientToken = ''): Endpoint {
		const {log, startConversation, version} = this.#options;
		const session = new HubSession({
			log,
			startConversation,
			version,
			runTool: this.#runTool,
			services: this.#services,
			startupTimeoutMs: this.#config.startupTimeoutMs,
			expose: () => this.#config.expose,
			hubId: this.#id,
			clientToken,
		});
		this.#sessions.add(session);
		void session.disconnected.then(() => this.#sessions.delete(session));
		return session;
	}

	/** Applies another configuration. Unchanged services keep running. */
	async update(config: Config, services: ReadonlyMap<string, Service>): Promise<void> {
		await this.#runTool.update(config);
		this.#config = config;
		this.#services = services;
		await Promise.all([...this.#sessions].map(session => session.update(services)));
	}

	async close(): Promise<void> {
		await Promise.all([...this.#sessions].map(session => session.close()));
		await this.#runTool.close().catch(error => logBug(this.#options.log, error));
	}
}
