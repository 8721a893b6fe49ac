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

/** A replica that is there takes a connection much faster. One that is not may not even refuse it. */
const CONNECT_TIMEOUT_MS = 1000;
/** A connection that nobody uses is let go of well within the time that a replica says it is about to end. */
const IDLE_TIMEOUT_MS = 2000;
/** Replicas that are known to be gone. The oldest is forgotten for the next, and asked again. */
const MAX_LEAVING = 1000;

type ForwarderOptions = ForwardedRequestOptions & {readonly log: Log};

/** Hands requests to the replicas that have their sessions, and answers to the clients. */
export class Forwarder {
	readonly #options: ForwarderOptions;
	#agent: Promise<Agent> | undefined;
	readonly #leaving = new BoundedMap<string, true>(MAX_LEAVING);
	#pendingCount = 0;
	/** How many were handed on, and how many of them came to nothing. */
	readonly counts = {forwarded: 0, failed: 0};

	constructor(options: ForwarderOptions) {
		this.#options = options;
	}

	/** Whether somebody waits for the answer of another replica. Who only listens does not. */
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
		// What is under way there may still need what its client has to say.
		if (this.#leaving.has(owner.instance) && request.isRequest) return request.reject(ownerLostError());
		this.counts.forwarded++;
		if (req.method === 'POST') this.#countPending(res);
		if (await this.#options.leases.isLost(owner)) {
			this.#failed(LEASE_LOST_REASON, undefined);
			return request.reject(ownerLostError());
		}
		// All that has come by now is heard first: a connection that is at its end is not used once more.
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
			`A session is on another replica, which did not answer: ${reason}.`,
		);
	}

	/** Where one connection broke, the others to that replica may be broken, too, and nobody has noticed. */
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
