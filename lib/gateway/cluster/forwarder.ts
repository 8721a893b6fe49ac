import type {ServerResponse} from 'node:http';
import {setImmediate} from 'node:timers/promises';
import type {Agent} from 'undici';
import type {Log} from '../../core/log.js';
import {createAgent} from '../../transports/http-client/http-request.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {
	ForwardedRequest,
	type ForwardedRequestOptions,
	type ForwardOptions,
	LEASE_LOST_REASON,
} from './forwarded-request.js';

/** A running replica accepts connections much faster. A stopped one may not even refuse them. */
const CONNECT_TIMEOUT_MS = 1000;
/** Well below the time that a replica takes to drain, so that idle connections are closed before it exits. */
const IDLE_TIMEOUT_MS = 2000;
/** Replicas that are known to be leaving. The oldest is evicted, and then tried again. */
const MAX_LEAVING = 1000;

type ForwarderOptions = ForwardedRequestOptions & {readonly log: Log};

export class Forwarder {
	readonly #options: ForwarderOptions;
	#agent: Promise<Agent> | undefined;
	readonly #leaving = new BoundedMap<string, true>(MAX_LEAVING);
	#pendingCount = 0;
	/** The number of forwarded requests, and how many of them failed. */
	readonly counts = {forwarded: 0, failed: 0};

	constructor(options: ForwarderOptions) {
		this.#options = options;
	}

	/** Whether the response to a POST is pending. Listen streams do not count. */
	get hasPending(): boolean {
		return this.#pendingCount > 0;
	}

	async forward(options: ForwardOptions): Promise<void> {
		const {req, res, owner, ownerLostError} = options;
		let agent: Agent | undefined;
		const request = new ForwardedRequest(options, this.#options, {
			onFailure: (reason, isBroken) => this.#failed(reason, isBroken ? agent : undefined),
			onLeaving: () => this.#leaving.set(owner.instance, true),
		});
		// Notifications and responses are still forwarded, since pending requests there may depend on them.
		if (this.#leaving.has(owner.instance) && request.isRequest) return request.reject(ownerLostError());
		this.counts.forwarded++;
		if (req.method === 'POST') this.#countPending(res);
		if (await this.#options.leases.isLost(owner)) {
			this.#failed(LEASE_LOST_REASON, undefined);
			return request.reject(ownerLostError());
		}
		// Handles pending socket events first, so that a connection that was just closed is not used again.
		await setImmediate();
		this.#agent ??= createAgent(CONNECT_TIMEOUT_MS, IDLE_TIMEOUT_MS);
		agent = await this.#agent;
		if (!res.destroyed) request.start(agent);
	}

	#countPending(res: ServerResponse): void {
		this.#pendingCount++;
		res.once('close', () => {
			this.#pendingCount--;
		});
	}

	#failed(reason: string, broken: Agent | undefined): void {
		this.counts.failed++;
		if (broken) void this.#replaceAgent(broken);
		this.#options.log.warn(
			'replica.unreachable',
			`A request could not be forwarded to the replica that owns its session: ${reason}.`,
		);
	}

	/** Replaces all connections after one broke: others to the same replica may be broken unnoticed. */
	async #replaceAgent(broken: Agent): Promise<void> {
		const current = this.#agent;
		if ((await current) !== broken || this.#agent !== current) return;
		this.#agent = undefined;
		await broken.close();
	}

	async close(): Promise<void> {
		await (await this.#agent)?.destroy();
	}
}
