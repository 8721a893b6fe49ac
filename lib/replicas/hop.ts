import {createHash} from 'node:crypto';
import type {IncomingHttpHeaders, IncomingMessage, ServerResponse} from 'node:http';
import {BoundedMap} from '../bounded-map.js';
import type {Headers} from '../envelope.js';
import {headerOf} from '../transports/http-exchange.js';
import {Numbered} from './numbered.js';
import {CommonSeal} from './seal.js';

/** A request that carries this came from another replica, and goes to no third one. */
export const FORWARDED = 'x-bridge-forwarded';
/** An answer that carries this came from a replica. */
export const ANSWERED = 'x-bridge-answered';

/** What a replica says that takes no more requests for the sessions that it has. */
const LEAVING = 'leaving';
/** What a replica says that took the place of the one that was asked. */
const ANOTHER = 'another';

/** Headers that only replicas may read on the way: whoever has got the address of one that is gone learns nothing. */
const secret = ['authorization', 'x-bridge-token', 'mcp-session-id'] as const;
const isSecret = (name: string): boolean => secret.some(known => known === name);
/** Headers that are about one connection, or about who asked the first replica. */
const left: ReadonlySet<string> = new Set([
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
	FORWARDED,
	ANSWERED,
]);
/** More does not fit into the head of a request. */
const MAX_HOP = 16 * 1024;
/** How far the clocks of replicas may be apart, and how long a request may take on its way. */
const TOLERANCE_MS = 5 * 60 * 1000;

/** Replicas whose requests are counted. The one that was heard of first is forgotten for the next. */
const MAX_SENDERS = 256;

/** What a replica tells with a request, sealed: what it was, from whom it comes, and for whom it is. */
type Told = {
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
type Proven = {
	/** Whether it takes no more. */
	readonly isLeaving: boolean;
	/** Whether it is not the one that was asked. */
	readonly isAnother: boolean;
};

/**
 * What replicas tell each other when one hands a request to another, so that each knows that the other is one. Whoever
 * overhears it can do nothing with it: it is good for one replica, once, and for just this request.
 */
export class Hop {
	#seal: CommonSeal;
	readonly #self: string;
	readonly #senders = new BoundedMap<string, Numbered>(MAX_SENDERS);
	readonly #taken = new WeakMap<IncomingMessage, Told>();
	#sent = 0;
	/** How many requests were taken that others handed on. */
	received = 0;

	/** `self` tells this replica from all others that there ever were. */
	constructor(secrets: readonly string[], self: string) {
		this.#seal = sealOf(secrets);
		this.#self = self;
	}

	use(secrets: readonly string[]): void {
		this.#seal = sealOf(secrets);
	}

	/** The headers for a request that is handed to another replica. */
	headersFor(
		{method = '', url = '', headers}: IncomingMessage,
		to: string,
		body: Buffer | undefined,
	): Headers {
		const told: Told = {
			time: Date.now(),
			method,
			url,
			headers: pick(headers, isSecret),
			body: body && digestOf(body),
			from: this.#self,
			to,
			number: ++this.#sent,
		};
		return {
			...pick(headers, name => !left.has(name) && !isSecret(name)),
			[FORWARDED]: this.#seal.close(JSON.stringify(told), 'request'),
		};
	}

	/**
	 * Takes a request that a replica has handed on for what it was, and has its answer prove that a replica gave it. Returns
	 * whether it is what it says, which most requests say nothing of.
	 */
	receive(req: IncomingMessage, res: ServerResponse, isLeaving: boolean): boolean {
		const sealed = headerOf(req.headers, FORWARDED);
		if (sealed === undefined) return true;
		const told = this.#toldWith(req, sealed);
		if (!told) return false;
		for (const name of secret) delete req.headers[name];
		Object.assign(req.headers, told.headers);
		req.url = told.url;
		this.#taken.set(req, told);
		this.received++;
		const state = told.to === this.#self ? (isLeaving ? LEAVING : '') : ANOTHER;
		res.setHeader(ANSWERED, this.#seal.close(state, sealed));
		return true;
	}

	/** What a replica told with this request, now and for the first time. */
	#toldWith({method, url}: IncomingMessage, sealed: string): Told | undefined {
		const text = this.#seal.open(sealed, 'request');
		if (text === undefined) return;
		const told = JSON.parse(text) as Told;
		const isThis = told.method === method && pathOf(told.url) === url;
		return isThis && Math.abs(Date.now() - told.time) <= TOLERANCE_MS && this.#isNew(told) ? told : undefined;
	}

	#isNew({from, number}: Told): boolean {
		const known = this.#senders.get(from);
		const sender = known ?? new Numbered();
		if (!known) this.#senders.set(from, sender);
		return sender.take(number);
	}

	/** Whether a request is for another replica, which was at this place before. */
	isMisled(req: IncomingMessage): boolean {
		const told = this.#taken.get(req);
		return told !== undefined && told.to !== this.#self;
	}

	/** Whether this is the body that a request had at the first replica, if it was handed on. */
	isBodyOf(req: IncomingMessage, body: Buffer): boolean {
		const told = this.#taken.get(req);
		return told === undefined || told.body === digestOf(body);
	}

	/** What an answer proves about who gave it; undefined if that is no replica. */
	proven(sent: Headers, received: IncomingHttpHeaders): Proven | undefined {
		const text = this.#seal.open(headerOf(received, ANSWERED) ?? '', sent[FORWARDED] ?? '');
		return text === undefined ? undefined : {isLeaving: text === LEAVING, isAnother: text === ANOTHER};
	}
}

const digestOf = (body: Buffer): string => createHash('sha256').update(body).digest('base64url');

/** What of a target may be read on the way. Behind it, older clients name their sessions. */
export const pathOf = (url: string): string => url.split('?', 1)[0] ?? '';

const sealOf = (secrets: readonly string[]): CommonSeal => new CommonSeal(secrets, 'forwarding', MAX_HOP);

/** The headers of an answer that are for the client. */
export const answerHeaders = (headers: IncomingHttpHeaders): Headers =>
	pick(headers, name => name === 'content-length' || !left.has(name));

function pick(headers: IncomingHttpHeaders, isWanted: (name: string) => boolean): Headers {
	const wanted = Object.keys(headers).filter(isWanted);
	return Object.fromEntries(wanted.map(name => [name, headerOf(headers, name) ?? '']));
}
