import type {ServerResponse} from 'node:http';
import {setImmediate} from 'node:timers/promises';
import type {Agent} from 'undici';
import {BoundedMap} from '../bounded-map.js';
import type {Log} from '../log.js';
import {newAgent} from '../transports/http-exchange.js';
import {type Forwarded, NO_LEASE, Passage, type PassageOptions} from './passage.js';

/** A replica that is there takes a connection much faster. One that is not may not even refuse it. */
const CONNECT_MS = 1000;
/** A connection that nobody uses is let go of well within the time that a replica says it is about to end. */
const IDLE_MS = 2000;
/** Replicas that are known to be gone. The oldest is forgotten for the next, and asked again. */
const MAX_GONE = 1000;

export type ForwarderOptions = PassageOptions & {readonly log: Log};

/** Hands requests to the replicas that have their sessions, and answers to the clients. */
export class Forwarder {
	readonly #options: ForwarderOptions;
	#agent: Promise<Agent> | undefined;
	readonly #gone = new BoundedMap<string, true>(MAX_GONE);
	#awaited = 0;
	/** How many were handed on, and how many of them came to nothing. */
	readonly counts = {forwarded: 0, failed: 0};

	constructor(options: ForwarderOptions) {
		this.#options = options;
	}

	/** Whether somebody waits for the answer of another replica. Who only listens does not. */
	get isAwaited(): boolean {
		return this.#awaited > 0;
	}

	async forward(forwarded: Forwarded): Promise<void> {
		const {req, res, owner, unknown} = forwarded;
		let agent: Agent | undefined;
		const passage = new Passage(forwarded, this.#options, {
			onFailure: (reason, isBroken) => this.#failed(reason, isBroken ? agent : undefined),
			onLeaving: () => this.#gone.set(owner.instance, true),
		});
		// What is under way there may still need what its client has to say.
		if (this.#gone.has(owner.instance) && passage.isRequest) return passage.refuse(unknown());
		this.counts.forwarded++;
		if (req.method === 'POST') this.#await(res);
		if (await this.#options.owners.isGone(owner)) {
			this.#failed(NO_LEASE, undefined);
			return passage.refuse(unknown());
		}
		// All that has come by now is heard first: a connection that is at its end is not used once more.
		await setImmediate();
		this.#agent ??= newAgent(CONNECT_MS, IDLE_MS);
		agent = await this.#agent;
		if (!res.destroyed) passage.begin(agent);
	}

	#await(res: ServerResponse): void {
		this.#awaited++;
		res.once('close', () => {
			this.#awaited--;
		});
	}

	#failed(reason: string, broken: Agent | undefined): void {
		this.counts.failed++;
		if (broken) void this.#renew(broken);
		this.#options.log.warn(
			'replica.unreachable',
			`A session is on another replica, which did not answer: ${reason}.`,
		);
	}

	/** Where one connection broke, the others to that replica may be broken, too, and nobody has noticed. */
	async #renew(broken: Agent): Promise<void> {
		const current = this.#agent;
		if ((await current) !== broken || this.#agent !== current) return;
		this.#agent = undefined;
		await broken.close();
	}

	async close(): Promise<void> {
		await (await this.#agent)?.destroy();
	}
}
