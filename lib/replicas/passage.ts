import type {IncomingHttpHeaders, IncomingMessage, ServerResponse} from 'node:http';
import type {Agent} from 'undici';
import {Envelope, type Headers, local} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {type Refused, refuse} from '../http/refuse.js';
import {type Exchange, exchangeOver, headerOf, type Reader} from '../transports/http-exchange.js';
import {sseEvent} from '../wire/sse.js';
import {answerHeaders, type Hop, pathOf} from './hop.js';
import type {Owners} from './owners.js';
import type {Owner} from './session-ids.js';

/** How much longer than its server a replica may take to answer. */
const GRACE_MS = 5000;
/** How often it is seen to whether a replica that is waited for is still there. */
const LOOK_MS = 1000;
/** Why a replica is not asked any more. */
export const NO_LEASE = 'it has lost its lease';
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

/** Whether there was no connection, so that nothing of a request can have reached the replica. */
const isUnheard = (error: NodeJS.ErrnoException): boolean =>
	error.code === 'UND_ERR_CONNECT_TIMEOUT' ||
	error.code === 'UND_ERR_CLOSED' ||
	error.syscall === 'connect' ||
	error.syscall === 'getaddrinfo' ||
	// Several addresses were tried.
	error instanceof AggregateError;

/** What a passage needs to know. */
export type PassageOptions = {
	readonly hop: Hop;
	/** Who is there, as far as a store knows. */
	readonly owners: Owners;
};

/** What a passage tells. */
type Told = {
	/** It came to nothing, perhaps because a connection broke that there was. */
	readonly onFailure: (reason: string, isBroken: boolean) => void;
	/** The other replica takes no more. */
	readonly onLeaving: () => void;
};

/** One request on its way to another replica, and its answer on the way back. */
export class Passage {
	readonly #forwarded: Forwarded;
	readonly #options: PassageOptions;
	readonly #told: Told;
	#headers: Headers = {};
	#stop: () => void = () => {};
	/** Whether the answer is a stream of events. */
	#isStream = false;
	#patience: NodeJS.Timeout | undefined;
	#looks: NodeJS.Timeout | undefined;

	constructor(forwarded: Forwarded, options: PassageOptions, told: Told) {
		this.#forwarded = forwarded;
		this.#options = options;
		this.#told = told;
	}

	/** The id of the request that is handed on, as text. Looked for only when something is to be answered here. */
	get #id(): string | undefined {
		const {id, method} = Envelope.received(this.#forwarded.body ?? EMPTY, local).head;
		return method === undefined ? undefined : id;
	}

	/** Whether it is a request of the protocol, which is to be answered. */
	get isRequest(): boolean {
		return this.#id !== undefined;
	}

	begin(agent: Agent): void {
		const {req, res, owner, body, timeoutMs} = this.#forwarded;
		const url = new URL(owner.address);
		url.pathname = pathOf(req.url ?? '');
		this.#headers = this.#options.hop.headersFor(req, owner.instance, body);
		this.#stop = exchangeOver(agent, {
			method: req.method as Exchange['method'],
			url,
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
		// Who had no lease cannot lose it.
		if (owner.term > 0) this.#looks = setInterval(() => void this.#look(), LOOK_MS).unref();
		if (timeoutMs > 0 && req.method === 'POST')
			this.#patience = setTimeout(() => this.#tooSlow(), timeoutMs + GRACE_MS).unref();
	}

	#begun(status: number, headers: IncomingHttpHeaders): Reader {
		const {res, unknown} = this.#forwarded;
		clearTimeout(this.#patience);
		const proven = this.#options.hop.proven(this.#headers, headers);
		if (!proven || proven.isAnother) {
			// Somebody else is there by now. What it says is not for the client.
			if (!proven) this.#told.onFailure('what is there is no replica', false);
			this.refuse(unknown());
			return {onData: (_, flow) => flow.stop(), onEnd: () => {}};
		}
		if (proven.isLeaving && status === 404) this.#told.onLeaving();
		this.#isStream = headerOf(headers, 'content-type')?.startsWith('text/event-stream') === true;
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

	/** A replica that is silent may be at work, or have stopped. */
	async #look(): Promise<void> {
		const {owner, res} = this.#forwarded;
		if (!(await this.#options.owners.isGone(owner)) || res.destroyed || res.writableEnded) return;
		this.#told.onFailure(NO_LEASE, false);
		this.#stop();
		if (res.headersSent) this.#cut();
		else this.refuse(refusal(502, lost));
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
		const id = this.#isStream ? this.#id : undefined;
		if (id !== undefined) res.end(sseEvent({data: Envelope.failure(id, lost).bytes}));
		else if (this.#isStream) res.end();
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
