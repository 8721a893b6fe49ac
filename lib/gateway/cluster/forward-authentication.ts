import {createHash} from 'node:crypto';
import type {IncomingHttpHeaders, IncomingMessage, ServerResponse} from 'node:http';
import type {Headers} from '../../core/envelope.js';
import {headerValue} from '../../transports/http-client/http-request.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {AntiReplayWindow} from './anti-replay-window.js';
import {MultiSecretSealer} from './sealer.js';

/** Marks a request that another replica has forwarded. It is not forwarded again. */
export const FORWARDED_HEADER = 'x-bridge-forwarded';
/** Marks a response of a replica. */
const REPLICA_HEADER = 'x-bridge-answered';

/** The sealed state of a replica that accepts no more requests for its sessions. */
const LEAVING = 'leaving';
/** The sealed state of a replica that runs at the address of the intended one. */
const OTHER_INSTANCE = 'another';

/** Headers that are sealed: an unrelated process may now have the address of a former replica. */
const sealedHeaders = ['authorization', 'x-bridge-token', 'mcp-session-id'] as const;
const isSealedHeader = (name: string): boolean => sealedHeaders.some(known => known === name);
/** Headers that apply to one connection, or only to the first replica. */
const unforwardedHeaders: ReadonlySet<string> = new Set([
	'connection',
	'keep-alive',
	'proxy-authenticate',
	'proxy-authorization',
	'proxy-connection',
	'te',
	'trailer',
	'transfer-encoding',
	'upgrade',
	'host',
	'content-length',
	'expect',
	'origin',
	'cookie',
	FORWARDED_HEADER,
	REPLICA_HEADER,
]);
/** A request head has no space for more. */
const MAX_SEALED_BYTES = 16 * 1024;
/** The maximum difference between the clocks of two replicas, including the time in transit. */
const CLOCK_TOLERANCE_MS = 5 * 60 * 1000;

/** Replicas whose sequence numbers are tracked. The oldest is evicted. */
const MAX_SENDERS = 256;

type SealedRequest = {
	readonly time: number;
	readonly method: string;
	readonly url: string;
	readonly headers: Headers;
	readonly body: string | undefined;
	readonly from: string;
	readonly to: string;
	/** The sequence number of the request, among all that the replica has forwarded. */
	readonly number: number;
};

/** The properties of its sender that a response proves. */
type ResponseProof = {
	/** Whether the sender accepts no more requests for its sessions. */
	readonly isLeaving: boolean;
	/** Whether the sender is not the intended replica. */
	readonly isOtherInstance: boolean;
};

/**
 * Authenticates forwarded requests and their responses. An eavesdropper cannot reuse a request: it is valid
 * once, for one replica, with one body.
 */
export class ForwardAuthentication {
	#sealer: MultiSecretSealer;
	readonly #self: string;
	readonly #windows = new BoundedMap<string, AntiReplayWindow>(MAX_SENDERS);
	readonly #accepted = new WeakMap<IncomingMessage, SealedRequest>();
	#sentCount = 0;
	/** The number of valid forwarded requests. */
	receivedCount = 0;

	/** `self` identifies this process among all replicas, including former ones. */
	constructor(secrets: readonly string[], self: string) {
		this.#sealer = createSealer(secrets);
		this.#self = self;
	}

	setSecrets(secrets: readonly string[]): void {
		this.#sealer = createSealer(secrets);
	}

	headersFor(
		{method = '', url = '', headers: received}: IncomingMessage,
		to: string,
		body: Buffer | undefined,
		sessionId?: string,
	): Headers {
		const headers = sessionId === undefined ? received : {...received, 'mcp-session-id': sessionId};
		const metadata: SealedRequest = {
			time: Date.now(),
			method,
			url,
			headers: pickHeaders(headers, isSealedHeader),
			body: body && bodyDigest(body),
			from: this.#self,
			to,
			number: ++this.#sentCount,
		};
		return {
			...pickHeaders(headers, name => !unforwardedHeaders.has(name) && !isSealedHeader(name)),
			[FORWARDED_HEADER]: this.#sealer.seal(JSON.stringify(metadata), 'request'),
		};
	}

	/**
	 * Restores the original request from a forwarded one, and adds the proof to its response. Returns false
	 * if the request is forged. Requests that were not forwarded are valid.
	 */
	authenticate(req: IncomingMessage, res: ServerResponse, isLeaving: boolean): boolean {
		const sealed = headerValue(req.headers, FORWARDED_HEADER);
		if (sealed === undefined) return true;
		const metadata = this.#openMetadata(req, sealed);
		if (!metadata) return false;
		for (const name of sealedHeaders) delete req.headers[name];
		Object.assign(req.headers, metadata.headers);
		req.url = metadata.url;
		this.#accepted.set(req, metadata);
		this.receivedCount++;
		const state = metadata.to === this.#self ? (isLeaving ? LEAVING : '') : OTHER_INSTANCE;
		res.setHeader(REPLICA_HEADER, this.#sealer.seal(state, sealed));
		return true;
	}

	/** Returns the metadata of a forwarded request, if it is authentic, recent and not repeated. */
	#openMetadata({method, url}: IncomingMessage, sealed: string): SealedRequest | undefined {
		const text = this.#sealer.unseal(sealed, 'request');
		if (text === undefined) return;
		const metadata = JSON.parse(text) as SealedRequest;
		const isSameRequest = metadata.method === method && pathWithoutQuery(metadata.url) === url;
		return isSameRequest &&
			Math.abs(Date.now() - metadata.time) <= CLOCK_TOLERANCE_MS &&
			this.#isNew(metadata)
			? metadata
			: undefined;
	}

	#isNew({from, number}: SealedRequest): boolean {
		const existing = this.#windows.get(from);
		const window = existing ?? new AntiReplayWindow();
		if (!existing) this.#windows.set(from, window);
		return window.accept(number);
	}

	/** Whether a request is for a replica that had this address before. */
	isMisdirected(req: IncomingMessage): boolean {
		const metadata = this.#accepted.get(req);
		return metadata !== undefined && metadata.to !== this.#self;
	}

	/** Whether this is the body that the first replica received. True for a request that was not forwarded. */
	matchesBody(req: IncomingMessage, body: Buffer): boolean {
		const metadata = this.#accepted.get(req);
		return metadata === undefined || metadata.body === bodyDigest(body);
	}

	/** Returns the proven properties of a sender; undefined if it is not a replica. */
	verifyResponse(sent: Headers, received: IncomingHttpHeaders): ResponseProof | undefined {
		const text = this.#sealer.unseal(
			headerValue(received, REPLICA_HEADER) ?? '',
			sent[FORWARDED_HEADER] ?? '',
		);
		return text === undefined
			? undefined
			: {isLeaving: text === LEAVING, isOtherInstance: text === OTHER_INSTANCE};
	}
}

const bodyDigest = (body: Buffer): string => createHash('sha256').update(body).digest('base64url');

/**
 * The part of a target that may be sent in plain text. Clients of 2024-11-05 send their session id in the
 * query.
 */
export const pathWithoutQuery = (url: string): string => url.split('?', 1)[0] ?? '';

const createSealer = (secrets: readonly string[]): MultiSecretSealer =>
	new MultiSecretSealer(secrets, 'forwarding', MAX_SEALED_BYTES);

export const responseHeaders = (headers: IncomingHttpHeaders): Headers =>
	pickHeaders(headers, name => name === 'content-length' || !unforwardedHeaders.has(name));

function pickHeaders(headers: IncomingHttpHeaders, isIncluded: (name: string) => boolean): Headers {
	const names = Object.keys(headers).filter(isIncluded);
	return Object.fromEntries(names.map(name => [name, headerValue(headers, name) ?? '']));
}
