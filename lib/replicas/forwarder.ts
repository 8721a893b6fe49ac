import type {IncomingHttpHeaders, IncomingMessage, ServerResponse} from 'node:http';
import type {Agent} from 'undici';
import {BoundedMap} from '../bounded-map.js';
import {Envelope, type Headers, local} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {type Refused, refuse} from '../http/refuse.js';
import type {Log} from '../log.js';
import {type Exchange, exchangeOver, newAgent, type Reader} from '../transports/http-exchange.js';
import {sseEvent} from '../wire/sse.js';
import {answerHeaders, type Hop} from './hop.js';
import type {Owner} from './session-ids.js';

/** A replica that is there takes a connection much faster. One that is not may not even refuse it. */
const CONNECT_MS = 1000;
/** A connection that nobody uses is let go of well within the time that a replica says it is about to end. */
const IDLE_MS = 2000;
/** Replicas that are known to be gone. The oldest is forgotten for the next, and asked again. */
const MAX_GONE = 1000;
/** How much longer than its server a replica may take to answer. */
const GRACE_MS = 5000;
const EMPTY = Buffer.alloc(0);

/** A replica that others can reach. */
export type Reachable = Owner & {readonly address: string};

export type Forwarded = {
	readonly req: IncomingMessage;
	readonly res: ServerResponse;
	/** The replica that has the session. */
	readonly owner: Reachable;
	readonly body?: Buffer;
	/** How long the server may take; 0 for ever. */
	readonly timeoutMs: number;
	/** What is answered when the replica is gone, and the session with it. */
	readonly unknown: () => Refused;
};

/** Hands requests to the replicas that have their sessions, and answers to the clients. */
export class Forwarder {
	readonly #hop: Hop;
	readonly #log: Log;
	#agent: Promise<Agent> | undefined;
	readonly #gone = new BoundedMap<string, true>(MAX_GONE);
	#awaited = 0;
	/** How many were handed on, and how many of them came to nothing. */
	readonly counts = {forwarded: 0, failed: 0};

	constructor(hop: Hop, log: Log) {
		this.#hop = hop;
		this.#log = log;
	}

	/** Whether somebody waits for the answer of another replica. Who only listens does not. */
	get isAwaited(): boolean {
		return this.#awaited > 0;
	}

	async forward(forwarded: Forwarded): Promise<void> {
		const {req, res, owner, unknown} = forwarded;
		const passage = new Passage(forwarded, this.#hop, {
			onFailure: (reason, isBroken) => this.#failed(reason, isBroken),
			onLeaving: () => this.#gone.set(owner.instance, true),
		});
		// What is under way there may still need what its client has to say.
		if (passage.isRequest && this.#gone.has(owner.instance)) return passage.refuse(unknown());
		this.#agent ??= newAgent(CONNECT_MS, IDLE_MS);
		this.counts.forwarded++;
		if (req.method === 'POST') this.#await(res);
		const agent = await this.#agent;
		// All that has come by now is heard first: a connection that is at its end is not used once more.
		setImmediate(() => {
			if (!res.destroyed) passage.begin(agent);
		});
	}

	#await(res: ServerResponse): void {
		this.#awaited++;
		res.once('close', () => {
			this.#awaited--;
		});
	}

	#failed(reason: string, isBroken: boolean): void {
		this.counts.failed++;
		if (isBroken) this.#renew();
		this.#log.warn(
			'replica.unreachable',
			`A session is on another replica, which did not answer: ${reason}.`,
		);
	}

	/** Where one connection broke, the others to that replica may be broken, too, and nobody has noticed. */
	#renew(): void {
		void this.#agent?.then(agent => agent.close());
		this.#agent = undefined;
	}

	async close(): Promise<void> {
		await (await this.#agent)?.destroy();
	}
}

/** Whether there was no connection, so that nothing of a request can have reached the replica. */
const isUnheard = (error: NodeJS.ErrnoException): boolean =>
	error.code === 'UND_ERR_CONNECT_TIMEOUT' ||
	error.syscall === 'connect' ||
	error.syscall === 'getaddrinfo' ||
	// Several addresses were tried.
	error instanceof AggregateError;

/** What a passage tells. */
type Told = {
	/** It came to nothing, perhaps because a connection broke that there was. */
	readonly onFailure: (reason: string, isBroken: boolean) => void;
	/** The other replica takes no more. */
	readonly onLeaving: () => void;
};

/** One request on its way to another replica, and its answer on the way back. */
class Passage {
	readonly #forwarded: Forwarded;
	readonly #hop: Hop;
	readonly #told: Told;
	readonly #headers: Headers;
	/** The id of the request that is handed on, as text. */
	readonly #id: string | undefined;
	#stop: () => void = () => {};
	#patience: NodeJS.Timeout | undefined;

	constructor(forwarded: Forwarded, hop: Hop, told: Told) {
		this.#forwarded = forwarded;
		this.#hop = hop;
		this.#told = told;
		this.#headers = hop.headersFor(forwarded.req);
		const {id, method} = Envelope.received(forwarded.body ?? EMPTY, local).head;
		this.#id = method === undefined ? undefined : id;
	}

	/** Whether it is a request of the protocol, which is to be answered. */
	get isRequest(): boolean {
		return this.#id !== undefined;
	}

	begin(agent: Agent): void {
		const {req, res, owner, body, timeoutMs} = this.#forwarded;
		this.#stop = exchangeOver(agent, {
			method: req.method as Exchange['method'],
			url: new URL(req.url ?? '', owner.address),
			headers: this.#headers,
			...(body ? {body} : {}),
			onHead: (status, headers) => this.#begun(status, headers),
			onError: (error, wasBegun) => this.#broken(error, wasBegun),
		});
		res.once('close', () => {
			clearTimeout(this.#patience);
			this.#stop();
		});
		if (timeoutMs > 0 && req.method === 'POST')
			this.#patience = setTimeout(() => this.#tooSlow(), timeoutMs + GRACE_MS).unref();
	}

	#begun(status: number, headers: IncomingHttpHeaders): Reader {
		const {res, unknown} = this.#forwarded;
		clearTimeout(this.#patience);
		const proven = this.#hop.proven(this.#headers, headers);
		if (!proven) {
			// Somebody else is there by now. What it says is not for the client.
			this.#told.onFailure('what is there is no replica', false);
			this.refuse(unknown());
			return {onData: (_, flow) => flow.stop(), onEnd: () => {}};
		}
		if (proven.isLeaving && status === 404) this.#told.onLeaving();
		res.writeHead(status, answerHeaders(headers));
		return {
			onData: (chunk, flow) => {
				if (res.write(chunk)) return;
				flow.pause();
				res.once('drain', () => flow.resume());
			},
			onEnd: () => res.end(),
		};
	}

	#broken(error: NodeJS.ErrnoException, wasBegun: boolean): void {
		clearTimeout(this.#patience);
		const wasHeard = !isUnheard(error);
		this.#told.onFailure(error.code ?? error.message, wasHeard);
		if (wasBegun) this.#cut();
		else if (wasHeard) this.refuse(refusal(502, lost));
		else this.refuse(this.#forwarded.unknown());
	}

	refuse(refused: Refused): void {
		refuse(this.#forwarded.res, {...refused, id: this.#id});
	}

	/** The replica is gone in the middle of an answer. */
	#cut(): void {
		const {res} = this.#forwarded;
		const isStream = String(res.getHeader('content-type')).startsWith('text/event-stream');
		if (isStream && this.#id !== undefined) res.end(sseEvent({data: Envelope.failure(this.#id, lost).bytes}));
		else if (isStream) res.end();
		else res.destroy();
	}

	#tooSlow(): void {
		this.#told.onFailure('it took too long', false);
		this.#stop();
		this.refuse(refusal(504, slow));
	}
}

const refusal = (status: number, error: BridgeError): Refused => {
	const {code, message, data} = error.toRpc();
	return {status, code, message, facts: data};
};

const lost = new BridgeError(
	'ERR_UPSTREAM_UNREACHABLE',
	'The replica of bridge that has this session is gone; nobody knows how much of this was done.',
	'Begin a new session.',
);

const slow = new BridgeError(
	'ERR_UPSTREAM_TIMEOUT',
	'The replica of bridge that has this session did not answer in time.',
	'Try again, or begin a new session.',
);
