import type {IncomingHttpHeaders, IncomingMessage, ServerResponse} from 'node:http';
import type {Agent} from 'undici';
import {bridgeOrigin, Envelope, type Headers} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {type HttpError, sendHttpError} from '../../http/http-error.js';
import {
	type BodyHandler,
	type HttpRequestOptions,
	headerValue,
	sendHttpRequestOver,
} from '../../transports/http-client/http-request.js';
import {formatSseEvent} from '../../wire/sse.js';
import {type ForwardAuthentication, pathWithoutQuery, responseHeaders} from './forward-authentication.js';
import type {Leases} from './leases.js';
import type {SessionOwner} from './session-ids.js';

/** How much longer than its server a replica may take to answer. */
const GRACE_MS = 5000;
/** How often it is seen to whether a replica that is waited for is still there. */
const LEASE_CHECK_MS = 1000;
/** Why a replica is not asked any more. */
export const LEASE_LOST_REASON = 'it has lost its lease';
const EMPTY = Buffer.alloc(0);

/** A replica that others can reach. */
export type ReachableOwner = SessionOwner & {readonly address: string};

export type ForwardOptions = {
	readonly req: IncomingMessage;
	readonly res: ServerResponse;
	/** The replica that has the session. */
	readonly owner: ReachableOwner;
	readonly body?: Buffer;
	/** How long the server may take; 0 for ever. */
	readonly timeoutMs: number;
	/** What is answered when the replica is gone, and the session with it. */
	readonly ownerLostError: () => HttpError;
};

/** Whether there was no connection, so that nothing of a request can have reached the replica. */
const failedToConnect = (error: NodeJS.ErrnoException): boolean =>
	error.code === 'UND_ERR_CONNECT_TIMEOUT' ||
	error.code === 'UND_ERR_CLOSED' ||
	error.syscall === 'connect' ||
	error.syscall === 'getaddrinfo' ||
	// Several addresses were tried.
	error instanceof AggregateError;

/** What a passage needs to know. */
export type ForwardedRequestOptions = {
	readonly authentication: ForwardAuthentication;
	/** Who is there, as far as a store knows. */
	readonly leases: Leases;
};

/** What a passage tells. */
type ForwardedRequestEvents = {
	/** It came to nothing, perhaps because a connection broke that there was. */
	readonly onFailure: (reason: string, isBroken: boolean) => void;
	/** The other replica takes no more. */
	readonly onLeaving: () => void;
};

/** One request on its way to another replica, and its answer on the way back. */
export class ForwardedRequest {
	readonly #forwarding: ForwardOptions;
	readonly #options: ForwardedRequestOptions;
	readonly #events: ForwardedRequestEvents;
	#headers: Headers = {};
	#stop: () => void = () => {};
	/** Whether the answer is a stream of events. */
	#isStream = false;
	#timeout: NodeJS.Timeout | undefined;
	#leaseCheckTimer: NodeJS.Timeout | undefined;

	constructor(forwarding: ForwardOptions, options: ForwardedRequestOptions, events: ForwardedRequestEvents) {
		this.#forwarding = forwarding;
		this.#options = options;
		this.#events = events;
	}

	/** The id of the request that is handed on, as text. Looked for only when something is to be answered here. */
	get #id(): string | undefined {
		const {id, method} = Envelope.received(this.#forwarding.body ?? EMPTY, bridgeOrigin).head;
		return method === undefined ? undefined : id;
	}

	/** Whether it is a request of the protocol, which is to be answered. */
	get isRequest(): boolean {
		return this.#id !== undefined;
	}

	start(agent: Agent): void {
		const {req, res, owner, body, timeoutMs} = this.#forwarding;
		const url = new URL(owner.address);
		url.pathname = pathWithoutQuery(req.url ?? '');
		this.#headers = this.#options.authentication.headersFor(req, owner.instance, body);
		this.#stop = sendHttpRequestOver(agent, {
			method: req.method as HttpRequestOptions['method'],
			url,
			headers: this.#headers,
			...(body ? {body} : {}),
			onResponse: (status, headers) => this.#onHead(status, headers),
			onError: (error, wasBegun) => this.#onError(error, wasBegun),
		});
		res.once('close', () => {
			clearTimeout(this.#timeout);
			clearInterval(this.#leaseCheckTimer);
			this.#stop();
		});
		// Who had no lease cannot lose it.
		if (owner.term > 0)
			this.#leaseCheckTimer = setInterval(() => void this.#checkLease(), LEASE_CHECK_MS).unref();
		if (timeoutMs > 0 && req.method === 'POST')
			this.#timeout = setTimeout(() => this.#onTimeout(), timeoutMs + GRACE_MS).unref();
	}

	#onHead(status: number, headers: IncomingHttpHeaders): BodyHandler {
		const {res, ownerLostError} = this.#forwarding;
		clearTimeout(this.#timeout);
		const proof = this.#options.authentication.verifyResponse(this.#headers, headers);
		if (!proof || proof.isOtherInstance) {
			// Somebody else is there by now. What it says is not for the client.
			if (!proof) this.#events.onFailure('what is there is no replica', false);
			this.reject(ownerLostError());
			return {onData: (_, flow) => flow.stop(), onEnd: () => {}};
		}
		if (proof.isLeaving && status === 404) this.#events.onLeaving();
		this.#isStream = headerValue(headers, 'content-type')?.startsWith('text/event-stream') === true;
		res.writeHead(status, responseHeaders(headers));
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
	async #checkLease(): Promise<void> {
		const {owner, res} = this.#forwarding;
		if (!(await this.#options.leases.isLost(owner)) || res.destroyed || res.writableEnded) return;
		this.#events.onFailure(LEASE_LOST_REASON, false);
		this.#stop();
		if (res.headersSent) this.#abort();
		else this.reject(toHttpError(502, replicaLost));
	}

	#onError(error: NodeJS.ErrnoException, wasBegun: boolean): void {
		clearTimeout(this.#timeout);
		const mayHaveArrived = !failedToConnect(error);
		this.#events.onFailure(error.code ?? error.message, mayHaveArrived);
		if (wasBegun) this.#abort();
		else if (mayHaveArrived) this.reject(toHttpError(502, replicaLost));
		else this.reject(this.#forwarding.ownerLostError());
	}

	reject(error: HttpError): void {
		sendHttpError(this.#forwarding.res, {...error, id: this.#id});
	}

	/** The replica is gone in the middle of an answer. */
	#abort(): void {
		const {res} = this.#forwarding;
		const id = this.#isStream ? this.#id : undefined;
		if (id !== undefined) res.end(formatSseEvent({data: Envelope.errorResponse(id, replicaLost).bytes}));
		else if (this.#isStream) res.end();
		else res.destroy();
	}

	#onTimeout(): void {
		this.#events.onFailure('it took too long', false);
		this.#stop();
		this.reject(toHttpError(504, replicaTimedOut));
	}
}

const toHttpError = (status: number, error: BridgeError): HttpError => {
	const {code, message, data} = error.toRpc();
	return {status, code, message, data: data};
};

const replicaLost = new BridgeError(
	'ERR_UPSTREAM_UNREACHABLE',
	'The replica of bridge that has this session is gone; nobody knows how much of this was done.',
	'Begin a new session.',
);

const replicaTimedOut = new BridgeError(
	'ERR_UPSTREAM_TIMEOUT',
	'The replica of bridge that has this session did not answer in time.',
	'Try again, or begin a new session.',
);
