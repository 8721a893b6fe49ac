import {createHash} from 'node:crypto';
import type {IncomingHttpHeaders, IncomingMessage, ServerResponse} from 'node:http';
import type {Headers} from '../../core/envelope.js';
import {headerValue} from '../../transports/http-client/http-request.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {AntiReplayWindow} from './anti-replay-window.js';
import {MultiSecretSealer} from './sealer.js';

/** A request that carries this came from another replica, and goes to no third one. */
export const FORWARDED_HEADER = 'x-bridge-forwarded';
/** An answer that carries this came from a replica. */
const REPLICA_HEADER = 'x-bridge-answered';

/** What a replica says that takes no more requests for the sessions that it has. */
const LEAVING = 'leaving';
/** What a replica says that took the place of the one that was asked. */
const OTHER_INSTANCE = 'another';

/** Headers that only replicas may read on the way: whoever has got the address of one that is gone learns nothing. */
const sealedHeaders = ['authorization', 'x-bridge-token', 'mcp-session-id'] as const;
const isSealedHeader = (name: string): boolean => sealedHeaders.some(known => known === name);
/** Headers that are about one connection, or about who asked the first replica. */
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
/** More does not fit into the head of a request. */
const MAX_SEALED_BYTES = 16 * 1024;
/** How far the clocks of replicas may be apart, and how long a request may take on its way. */
const CLOCK_TOLERANCE_MS = 5 * 60 * 1000;

/** Replicas whose requests are counted. The one that was heard of first is forgotten for the next. */
const MAX_SENDERS = 256;

/** What a replica tells with a request, sealed: what it was, from whom it comes, and for whom it is. */
type SealedRequest = {
	readonly time: number;
	readonly method: string;
	readonly url: string;
	readonly headers: Headers;
	/** The digest of its body, if it has one. */
	readonly body: string | undefined;
	readonly from: string;
	readonly to: string;
	/** The how many-th it is of those that this replica has handed on. */
	readonly number: number;
};

/** What is known of who answered. */
type ResponseProof = {
	/** Whether it takes no more. */
	readonly isLeaving: boolean;
	/** Whether it is not the one that was asked. */
	readonly isOtherInstance: boolean;
};

/**
 * What replicas tell each other when one hands a request to another, so that each knows that the other is one. Whoever
 * overhears it can do nothing with it: it is good for one replica, once, and for just this request.
 */
export class ForwardAuthentication {
	#sealer: MultiSecretSealer;
	readonly #self: string;
	readonly #windows = new BoundedMap<string, AntiReplayWindow>(MAX_SENDERS);
	readonly #accepted = new WeakMap<IncomingMessage, SealedRequest>();
	#sentCount = 0;
	/** How many requests were taken that others handed on. */
	receivedCount = 0;

	/** `self` tells this replica from all others that there ever were. */
	constructor(secrets: readonly string[], self: string) {
		this.#sealer = createSealer(secrets);
		this.#self = self;
	}

	setSecrets(secrets: readonly string[]): void {
		this.#sealer = createSealer(secrets);
	}

	/** The headers for a request that is handed to another replica. */
	headersFor(
		{method = '', url = '', headers}: IncomingMessage,
		to: string,
		body: Buffer | undefined,
	): Headers {
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
	 * Takes a request that a replica has handed on for what it was, and has its answer prove that a replica gave it. Returns
	 * whether it is what it says, which most requests say nothing of.
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

	/** What a replica told with this request, now and for the first time. */
	#openMetadata({method, url}: IncomingMessage, sealed: string): SealedRequest | undefined {
		const text = this.#sealer.unseal(sealed, 'request');
		if (text === undefined) return;
		const metadata = JSON.parse(text) as SealedRequest;
		const isThis = metadata.method === method && pathWithoutQuery(metadata.url) === url;
		return isThis && Math.abs(Date.now() - metadata.time) <= CLOCK_TOLERANCE_MS && this.#isNew(metadata)
			? metadata
			: undefined;
	}

	#isNew({from, number}: SealedRequest): boolean {
		const existing = this.#windows.get(from);
		const window = existing ?? new AntiReplayWindow();
		if (!existing) this.#windows.set(from, window);
		return window.accept(number);
	}

	/** Whether a request is for another replica, which was at this place before. */
	isMisdirected(req: IncomingMessage): boolean {
		const metadata = this.#accepted.get(req);
		return metadata !== undefined && metadata.to !== this.#self;
	}

	/** Whether this is the body that a request had at the first replica, if it was handed on. */
	matchesBody(req: IncomingMessage, body: Buffer): boolean {
		const metadata = this.#accepted.get(req);
		return metadata === undefined || metadata.body === bodyDigest(body);
	}

	/** What an answer proves about who gave it; undefined if that is no replica. */
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

/** What of a target may be read on the way. Behind it, older clients name their sessions. */
export const pathWithoutQuery = (url: string): string => url.split('?', 1)[0] ?? '';

const createSealer = (secrets: readonly string[]): MultiSecretSealer =>
	new MultiSecretSealer(secrets, 'forwarding', MAX_SEALED_BYTES);

/** The headers of an answer that are for the client. */
export const responseHeaders = (headers: IncomingHttpHeaders): Headers =>
	pickHeaders(headers, name => name === 'content-length' || !unforwardedHeaders.has(name));

function pickHeaders(headers: IncomingHttpHeaders, isWanted: (name: string) => boolean): Headers {
	const wanted = Object.keys(headers).filter(isWanted);
	return Object.fromEntries(wanted.map(name => [name, headerValue(headers, name) ?? '']));
}
