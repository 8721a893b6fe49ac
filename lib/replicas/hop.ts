import type {IncomingHttpHeaders, IncomingMessage} from 'node:http';
import type {Headers} from '../envelope.js';
import {headerOf} from '../transports/http-exchange.js';
import {CommonSeal} from './seal.js';

/** A request that carries this came from another replica, and goes to no third one. */
export const FORWARDED = 'x-bridge-forwarded';
/** An answer that carries this came from a replica. */
export const ANSWERED = 'x-bridge-answered';

/** What a replica says that takes no more requests for the sessions that it has. */
const LEAVING = 'leaving';

/** Headers that only replicas may read on the way: whoever has got the address of one that is gone learns nothing. */
const secret = ['authorization', 'x-bridge-token', 'mcp-session-id'] as const;
const isSecret = (name: string): boolean => secret.some(known => known === name);
/** Headers that are about one connection, or about who asked the first replica. */
const left: ReadonlySet<string> = new Set([
	...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te'],
	...['trailer', 'transfer-encoding', 'upgrade', 'host', 'content-length', 'expect', 'origin', 'cookie'],
	...[FORWARDED, ANSWERED],
]);
/** More does not fit into the head of a request. */
const MAX_HOP = 16 * 1024;
/** How far the clocks of replicas may be apart, and how long a request may take on its way. */
const TOLERANCE_MS = 5 * 60 * 1000;

type Told = {readonly time: number; readonly method: string; readonly url: string; readonly headers: Headers};

/** What replicas tell each other when one hands a request to another, so that each knows that the other is one. */
export class Hop {
	#seal: CommonSeal;
	/** How many requests were taken that others handed on. */
	received = 0;

	constructor(secrets: readonly string[]) {
		this.#seal = sealOf(secrets);
	}

	use(secrets: readonly string[]): void {
		this.#seal = sealOf(secrets);
	}

	/** The headers for a request that is handed to another replica. */
	headersFor({method = '', url = '', headers}: IncomingMessage): Headers {
		const hidden = pick(headers, isSecret);
		const told: Told = {time: Date.now(), method, url, headers: hidden};
		return {
			...pick(headers, name => !left.has(name) && !isSecret(name)),
			[FORWARDED]: this.#seal.close(JSON.stringify(told), 'request'),
		};
	}

	/** Takes a request that a replica has handed on for what it was. Returns whether it is one. */
	receive(req: IncomingMessage): boolean {
		const text = this.#seal.open(headerOf(req.headers, FORWARDED) ?? '', 'request');
		if (text === undefined) return false;
		const {time, method, url, headers} = JSON.parse(text) as Told;
		if (method !== req.method || url !== req.url || Math.abs(Date.now() - time) > TOLERANCE_MS) return false;
		for (const name of secret) delete req.headers[name];
		Object.assign(req.headers, headers);
		this.received++;
		return true;
	}

	/** What proves that the answer to a request comes from a replica; and whether that takes no more of them. */
	proofFor(req: IncomingMessage, isLeaving: boolean): string {
		return this.#seal.close(isLeaving ? LEAVING : '', headerOf(req.headers, FORWARDED) ?? '');
	}

	/** What an answer proves about who gave it; undefined if that is no replica. */
	proven(sent: Headers, received: IncomingHttpHeaders): {readonly isLeaving: boolean} | undefined {
		const text = this.#seal.open(headerOf(received, ANSWERED) ?? '', sent[FORWARDED] ?? '');
		return text === undefined ? undefined : {isLeaving: text === LEAVING};
	}
}

const sealOf = (secrets: readonly string[]): CommonSeal => new CommonSeal(secrets, 'forwarding', MAX_HOP);

/** The headers of an answer that are for the client. */
export const answerHeaders = (headers: IncomingHttpHeaders): Headers =>
	pick(headers, name => !left.has(name));

function pick(headers: IncomingHttpHeaders, isWanted: (name: string) => boolean): Headers {
	const wanted = Object.keys(headers).filter(isWanted);
	return Object.fromEntries(wanted.map(name => [name, headerOf(headers, name) ?? '']));
}
