import {createHash, timingSafeEqual} from 'node:crypto';
import type {IncomingMessage} from 'node:http';
import {isLoopback} from '../util/loopback.js';
import {countHeader} from './header-count.js';
import type {HttpError} from './http-error.js';
import {originMatcher} from './origin-matcher.js';
import {isMcpTarget} from './target.js';

type GuardOptions = {
	/** The accepted values of Host, besides those of this machine; `*` for any. */
	readonly hosts: readonly string[];
	/** The accepted origins of browsers, besides those of this machine. A port or a subdomain may be `*`. */
	readonly origins: readonly string[];
	/** The accepted tokens. Without any, no token is required. */
	readonly tokens: readonly string[];
};

/** The maximum number of headers. Clients send fewer, and each one takes time. */
const MAX_HEADERS = 100;

/** Validates the head of a request before anything else uses it. */
export class Guard {
	readonly #hosts: ReadonlySet<string>;
	readonly #origins: ReadonlyArray<(origin: string) => boolean>;
	readonly #tokens: readonly Buffer[];
	#lastHost: string | undefined;

	constructor({hosts, origins, tokens}: GuardOptions) {
		this.#hosts = new Set(hosts.map(normalizeHost));
		this.#origins = origins.map(originMatcher);
		this.#tokens = tokens.map(digest);
	}

	get needsToken(): boolean {
		return this.#tokens.length > 0;
	}

	/** Returns the error for a request that is rejected regardless of its target. */
	validate(req: IncomingMessage): HttpError | undefined {
		if (req.rawHeaders.length > 2 * MAX_HEADERS)
			return {status: 431, message: `There are more than ${MAX_HEADERS} headers`, closesConnection: true};
		if (!req.url?.startsWith('/') || req.url.startsWith('//'))
			return {status: 400, message: 'Bad Request: the target has to be a path'};
		// URL parsers read a backslash as a slash, so the target could mean two things.
		if (req.url.includes('\\'))
			return {status: 400, message: 'Bad Request: the target must not contain a backslash'};
		if (countHeader(req, 'host') !== 1)
			return {status: 400, message: 'Bad Request: exactly one Host header is required'};
		if (!this.#isAllowedHost(req.headers.host ?? ''))
			return {status: 403, message: 'Forbidden: unknown Host', event: 'http.host_rejected'};
		if (countHeader(req, 'origin') > 1 || !this.#isAllowedOrigin(req.headers.origin))
			return {status: 403, message: 'Forbidden: this Origin is not allowed', event: 'http.origin_rejected'};
		if (isPageLoad(req))
			return {
				status: 403,
				event: 'http.origin_rejected',
				message:
					'Forbidden: pages may not load this endpoint without an Origin. Use fetch, or a client that is not a browser',
			};
		return;
	}

	/**
	 * Whether a request has a valid token, or needs none. `allowsBearer`: the token may be in Authorization.
	 */
	isAuthorized(req: IncomingMessage, allowsBearer: boolean): boolean {
		return !this.needsToken || this.tokenOf(req, allowsBearer) !== undefined;
	}

	tokenOf({headers}: IncomingMessage, allowsBearer: boolean): string | undefined {
		if (!this.needsToken) return;
		const {authorization = '', 'x-bridge-token': bridgeToken} = headers;
		const bearer = allowsBearer ? /^Bearer +(\S+)$/i.exec(authorization)?.[1] : undefined;
		return [bridgeToken, bearer].find(
			(token): token is string => typeof token === 'string' && this.isToken(token),
		);
	}

	isToken(token: string): boolean {
		const candidate = digest(token);
		// Compares all tokens, each in constant time.
		return this.#tokens.reduce((found, known) => timingSafeEqual(known, candidate) || found, false);
	}

	#isAllowedHost(host: string): boolean {
		// Nearly all requests have the same Host.
		if (host === this.#lastHost) return true;
		const isKnown = this.#matchesHost(host);
		if (isKnown) this.#lastHost = host;
		return isKnown;
	}

	#matchesHost(host: string): boolean {
		const [, name = ''] = /^(\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i.exec(host) ?? [];
		if (name === '') return false;
		return isLoopback(name) || this.#hosts.has('*') || this.#hosts.has(normalizeHost(name));
	}

	#isAllowedOrigin(origin: string | undefined): boolean {
		if (origin === undefined) return true;
		const [, host = ''] = /^https?:\/\/(\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i.exec(origin) ?? [];
		return isLoopback(host) || this.#origins.some(isAllowed => isAllowed(origin));
	}
}

/**
 * Whether a browser loads an MCP endpoint as an image, a script, a frame or similar, without an Origin. A
 * browser sends the site and the mode of each such request, and a page cannot change them; other programs
 * send neither.
 */
function isPageLoad({url = '', headers}: IncomingMessage): boolean {
	if (headers.origin !== undefined || !isMcpTarget(url)) return false;
	const {'sec-fetch-site': site = 'none', 'sec-fetch-mode': mode = 'cors'} = headers;
	return !allowedFetchSites.includes(site) || pageFetchModes.includes(mode);
}

/** Values of Sec-Fetch-Site that exclude a request from another site. */
const allowedFetchSites: readonly unknown[] = ['none', 'same-origin'];
/** Values of Sec-Fetch-Mode of requests whose page cannot read the response, and of navigation. */
const pageFetchModes: readonly unknown[] = ['no-cors', 'navigate'];

/**
 * Normalizes a host name for comparison. An IPv6 address has brackets in a URL, but not as a listen address.
 */
const normalizeHost = (host: string): string => host.toLowerCase().replace(/^\[(.*)\]$/, '$1');

const digest = (token: string): Buffer => createHash('sha256').update(token).digest();
