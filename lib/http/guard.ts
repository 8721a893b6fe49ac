import {createHash, timingSafeEqual} from 'node:crypto';
import type {IncomingMessage} from 'node:http';
import {isLoopback} from '../util/loopback.js';
import {countHeader} from './header-count.js';
import type {HttpError} from './http-error.js';
import {originMatcher} from './origin-matcher.js';
import {isMcpTarget} from './target.js';

type GuardOptions = {
	/** Names by which this server may be called, beyond those of this machine. `*` for any. */
	readonly hosts: readonly string[];
	/** Origins of browsers that may call it, beyond those of this machine; a port or a subdomain may be `*`. */
	readonly origins: readonly string[];
	/** What a caller has to know, if anything. */
	readonly tokens: readonly string[];
};

/** Headers of one request. More of them are no client's, and each costs something. */
const MAX_HEADERS = 100;

/** Looks at the head of a request before anything of it is used. */
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

	/** Why a request goes no further, whatever it asks for. */
	validate(req: IncomingMessage): HttpError | undefined {
		if (req.rawHeaders.length > 2 * MAX_HEADERS)
			return {status: 431, message: `There are more than ${MAX_HEADERS} headers`, closesConnection: true};
		if (!req.url?.startsWith('/') || req.url.startsWith('//'))
			return {status: 400, message: 'Bad Request: the target has to be a path'};
		// URL parsers read a backslash as a slash, so the target could mean two things.
		if (req.url.includes('\\'))
			return {status: 400, message: 'Bad Request: the target must not contain a backslash'};
		if (countHeader(req, 'host') !== 1) return {status: 400, message: 'Bad Request: one Host is needed'};
		if (!this.#isAllowedHost(req.headers.host ?? ''))
			return {status: 403, message: 'Forbidden: unknown Host'};
		if (countHeader(req, 'origin') > 1 || !this.#isAllowedOrigin(req.headers.origin))
			return {status: 403, message: 'Forbidden: this Origin may not call'};
		if (isPageLoad(req))
			return {
				status: 403,
				message:
					'Forbidden: pages may not load this endpoint without an Origin. Use fetch, or a client that is not a browser',
			};
		return;
	}

	/** Whether a request brings what a caller has to know. `isAuthorizationOurs` tells that it may be in Authorization. */
	isAuthorized(req: IncomingMessage, allowsBearer: boolean): boolean {
		return !this.needsToken || this.tokenOf(req, allowsBearer) !== undefined;
	}

	/** The token in the headers of a request, if it is one of the configured ones. */
	tokenOf({headers}: IncomingMessage, allowsBearer: boolean): string | undefined {
		if (!this.needsToken) return;
		const {authorization = '', 'x-bridge-token': bridgeToken} = headers;
		const bearer = allowsBearer ? /^Bearer +(\S+)$/i.exec(authorization)?.[1] : undefined;
		return [bridgeToken, bearer].find(
			(token): token is string => typeof token === 'string' && this.isToken(token),
		);
	}

	/** Whether a text is one of the tokens. */
	isToken(token: string): boolean {
		const candidate = digest(token);
		// All are looked at, and each for as long as the others.
		return this.#tokens.reduce((found, known) => timingSafeEqual(known, candidate) || found, false);
	}

	#isAllowedHost(host: string): boolean {
		// All requests name the same one, as a rule.
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
 * Whether a browser loads an MCP endpoint as an image, a script, a frame or similar, without an Origin. A browser sends
 * the site and the mode of each such request, and a page cannot change them; other programs send neither.
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

/** A name as it is compared: an address of IPv6 has brackets in a URL, and none where it is listened on. */
const normalizeHost = (host: string): string => host.toLowerCase().replace(/^\[(.*)\]$/, '$1');

const digest = (token: string): Buffer => createHash('sha256').update(token).digest();
