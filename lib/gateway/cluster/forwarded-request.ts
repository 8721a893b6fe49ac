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

/** The extra time that the owner gets to respond, beyond the timeout of the service. */
const GRACE_MS = 5000;
const LEASE_CHECK_MS = 1000;
export const LEASE_LOST_REASON = 'the owner has lost its lease';
const EMPTY = Buffer.alloc(0);

/** An owner that other replicas can reach. */
export type ReachableOwner = SessionOwner & {readonly address: string};

export type ForwardOptions = {
	readonly req: IncomingMessage;
	readonly res: ServerResponse;
	readonly owner: ReachableOwner;
	readonly body?: Buffer;
	/** The session id to send if the client omitted it. */
	readonly sessionId?: string;
	/** The timeout of the service; 0 for none. */
	readonly timeoutMs: number;
	/** The reply if the owner is lost, and the session with it. */
	readonly ownerLostError: () => HttpError;
};

/** Whether no connection could be made, so that the owner cannot have received the request. */
const failedToConnect = (error: NodeJS.ErrnoException): boolean =>
	error.code === 'UND_ERR_CONNECT_TIMEOUT' ||
	error.code === 'UND_ERR_CLOSED' ||
	error.syscall === 'connect' ||
	error.syscall === 'getaddrinfo' ||
	// Every address of the host failed.
	error instanceof AggregateError;

export type ForwardedRequestOptions = {
	readonly authentication: ForwardAuthentication;
	readonly leases: Leases;
};

type ForwardedRequestEvents = {
	/** The request failed. `isBroken` means that a connection broke after it was made. */
	readonly onFailure: (reason: string, isBroken: boolean) => void;
	readonly onLeaving: () => void;
};

export class ForwardedRequest {
	readonly #forwarding: ForwardOptions;
	readonly #options: ForwardedRequestOptions;
	readonly #events: ForwardedRequestEvents;
	#headers: Headers = {};
	#stop: () => void = () => {};
	#isStream = false;
	#timeout: NodeJS.Timeout | undefined;
	#leaseCheckTimer: NodeJS.Timeout | undefined;

	constructor(forwarding: ForwardOptions, options: ForwardedRequestOptions, events: ForwardedRequestEvents) {
		this.#forwarding = forwarding;
		this.#options = options;
		this.#events = events;
	}

	/** The id of the forwarded JSON-RPC request, as text. Parsed only if bridge has to respond itself. */
	get #id(): string | undefined {
		const {id, method} = Envelope.received(this.#forwarding.body ?? EMPTY, bridgeOrigin).head;
		return method === undefined ? undefined : id;
	}

	get isRequest(): boolean {
		return this.#id !== undefined;
	}

	start(agent: Agent): void {
		const {req, res, owner, body, timeoutMs, sessionId} = this.#forwarding;
		const url = new URL(owner.address);
		url.pathname = pathWithoutQuery(req.url ?? '');
		this.#headers = this.#options.authentication.headersFor(req, owner.instance, body, sessionId);
		this.#stop = sendHttpRequestOver(agent, {
			method: req.method as HttpRequestOptions['method'],
			url,
			headers: this.#headers,
			...(body ? {body} : {}),
			onResponse: (status, headers) => this.#onHead(status, headers),
			onError: (error, hasStarted) => this.#onError(error, hasStarted),
		});
		res.once('close', () => {
			clearTimeout(this.#timeout);
			clearInterval(this.#leaseCheckTimer);
			this.#stop();
		});
		// An owner without a lease cannot lose it.
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
			// Another process has the address now. Its response is not passed to the client.
			if (!proof) this.#events.onFailure('the process at its address is not a replica', false);
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

	/**
	 * Fails the request if the owner has lost its lease. Without a response, the owner may be busy or stopped.
	 */
	async #checkLease(): Promise<void> {
		const {owner, res} = this.#forwarding;
		if (!(await this.#options.leases.isLost(owner)) || res.destroyed || res.writableEnded) return;
		this.#events.onFailure(LEASE_LOST_REASON, false);
		this.#stop();
		if (res.headersSent) this.#abort();
		else this.reject(toHttpError(502, replicaLost));
	}

	#onError(error: NodeJS.ErrnoException, hasStarted: boolean): void {
		clearTimeout(this.#timeout);
		const mayHaveArrived = !failedToConnect(error);
		this.#events.onFailure(error.code ?? error.message, mayHaveArrived);
		if (hasStarted) this.#abort();
		else if (mayHaveArrived) this.reject(toHttpError(502, replicaLost));
		else this.reject(this.#forwarding.ownerLostError());
	}

	reject(error: HttpError): void {
		sendHttpError(this.#forwarding.res, {...error, id: this.#id});
	}

	/** Ends a response that has begun, after the owner was lost. */
	#abort(): void {
		const {res} = this.#forwarding;
		const id = this.#isStream ? this.#id : undefined;
		if (id !== undefined) res.end(formatSseEvent({data: Envelope.errorResponse(id, replicaLost).bytes}));
		else if (this.#isStream) res.end();
		else res.destroy();
	}

	#onTimeout(): void {
		this.#events.onFailure('the owner did not respond in time', false);
		this.#stop();
		this.reject(toHttpError(504, replicaTimedOut));
	}
}

const toHttpError = (status: number, error: BridgeError): HttpError => {
	const {code, message, data} = error.toRpc();
	return {status, code, message, data};
};

const replicaLost = new BridgeError(
	'ERR_UPSTREAM_UNREACHABLE',
	'The replica of bridge that owns this session is lost. The request may or may not have been executed.',
	'Start a new session.',
);

const replicaTimedOut = new BridgeError(
	'ERR_UPSTREAM_TIMEOUT',
	'The replica of bridge that owns this session did not respond in time.',
	'Try again, or start a new session.',
);
