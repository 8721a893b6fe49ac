import type {IncomingHttpHeaders, IncomingMessage, ServerResponse} from 'node:http';
import type {Agent} from 'undici';
import {Envelope, type Headers, local} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {type Refused, refuse} from '../http/refuse.js';
import type {Log} from '../log.js';
import {type Exchange, exchangeOver, newAgent, type Reader} from '../transports/http-exchange.js';
import {sseEvent} from '../wire/sse.js';
import {answerHeaders, type Hop} from './hop.js';
import type {Owners} from './owners.js';
import type {Owner} from './session-ids.js';

/** A replica that is there takes a connection much faster. One that is not may not even refuse it. */
const CONNECT_MS = 1000;
/** How much longer than its server a replica may take to answer. */
const GRACE_MS = 5000;
/** How often it is seen to whether a replica that is waited for is still there. */
const LOOK_MS = 1000;
const EMPTY = Buffer.alloc(0);

export type Forwarded = {
	readonly req: IncomingMessage;
	readonly res: ServerResponse;
	/** The replica that has the session. */
	readonly owner: Owner;
	readonly body?: Buffer;
	/** How long the server may take; 0 for ever. */
	readonly timeoutMs: number;
	/** What is answered when the replica is gone, and the session with it. */
	readonly unknown: () => Refused;
};

export type ForwarderOptions = {
	readonly hop: Hop;
	readonly log: Log;
	/** Who is there, where there is a store that knows. */
	readonly owners: Owners | undefined;
};

/** Hands requests to the replicas that have their sessions, and answers to the clients. */
export class Forwarder {
	readonly #options: ForwarderOptions;
	#agent: Promise<Agent> | undefined;
	/** How many were handed on, and how many of them came to nothing. */
	readonly counts = {forwarded: 0, failed: 0};

	constructor(options: ForwarderOptions) {
		this.#options = options;
	}

	async forward(forwarded: Forwarded): Promise<void> {
		this.#agent ??= newAgent(CONNECT_MS);
		this.counts.forwarded++;
		const agent = await this.#agent;
		const isGone = (await this.#options.owners?.isGone(forwarded.owner)) ?? false;
		if (forwarded.res.destroyed) return;
		const passage = new Passage(forwarded, this.#options, reason => this.#failed(reason));
		if (isGone) passage.refuse();
		else passage.begin(agent);
	}

	#failed(reason: string): void {
		this.counts.failed++;
		this.#options.log.warn(
			'replica.unreachable',
			`A session is on another replica, which did not answer: ${reason}.`,
		);
	}

	async close(): Promise<void> {
		await (await this.#agent)?.destroy();
	}
}

/** Errors with which nothing of a request can have reached the replica. */
const unheard: readonly unknown[] = [
	...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'],
	'UND_ERR_CONNECT_TIMEOUT',
];

/** One request on its way to another replica, and its answer on the way back. */
class Passage {
	readonly #forwarded: Forwarded;
	readonly #options: ForwarderOptions;
	readonly #onFailure: (reason: string) => void;
	readonly #headers: Headers;
	/** The id of the request that is handed on, as text. */
	readonly #id: string | undefined;
	#stop: () => void = () => {};
	#patience: NodeJS.Timeout | undefined;
	#looks: NodeJS.Timeout | undefined;

	constructor(forwarded: Forwarded, options: ForwarderOptions, onFailure: (reason: string) => void) {
		this.#forwarded = forwarded;
		this.#options = options;
		this.#onFailure = onFailure;
		this.#headers = options.hop.headersFor(forwarded.req);
		const {id, method} = Envelope.received(forwarded.body ?? EMPTY, local).head;
		this.#id = method === undefined ? undefined : id;
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
			clearInterval(this.#looks);
			this.#stop();
		});
		if (this.#options.owners) this.#looks = setInterval(() => void this.#look(), LOOK_MS).unref();
		if (timeoutMs > 0 && req.method === 'POST')
			this.#patience = setTimeout(() => this.#tooSlow(), timeoutMs + GRACE_MS).unref();
	}

	#begun(status: number, headers: IncomingHttpHeaders): Reader {
		const {res, unknown} = this.#forwarded;
		clearTimeout(this.#patience);
		if (!this.#options.hop.isProven(this.#headers, headers)) {
			// Somebody else is there by now. What it says is not for the client.
			this.#onFailure('what is there is no replica');
			refuse(res, {...unknown(), id: this.#id});
			return {onData: (_, flow) => flow.stop(), onEnd: () => {}};
		}
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

	/** The session is gone with its replica: nothing of this was heard there. */
	refuse(): void {
		this.#onFailure('it has lost its lease');
		refuse(this.#forwarded.res, {...this.#forwarded.unknown(), id: this.#id});
	}

	/** A replica that is silent may be at work, or have stopped. */
	async #look(): Promise<void> {
		const {owner, res} = this.#forwarded;
		if (!(await this.#options.owners?.isGone(owner)) || res.destroyed || res.writableEnded) return;
		this.#onFailure('it has lost its lease');
		this.#stop();
		if (res.headersSent) this.#cut();
		else refuse(res, refusal(502, lost, this.#id));
	}

	#broken(error: NodeJS.ErrnoException, wasBegun: boolean): void {
		const {res, unknown} = this.#forwarded;
		clearTimeout(this.#patience);
		this.#onFailure(error.code ?? error.message);
		if (wasBegun) this.#cut();
		else if (unheard.includes(error.code)) refuse(res, {...unknown(), id: this.#id});
		else refuse(res, refusal(502, lost, this.#id));
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
		const {res} = this.#forwarded;
		this.#onFailure('it took too long');
		this.#stop();
		refuse(res, refusal(504, slow, this.#id));
	}
}

const refusal = (status: number, error: BridgeError, id: string | undefined): Refused => {
	const {code, message, data} = error.toRpc();
	return {status, code, message, facts: data, id};
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
