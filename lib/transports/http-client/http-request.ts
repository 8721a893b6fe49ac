import type {IncomingHttpHeaders} from 'node:http';
import type {Agent, Dispatcher} from 'undici';
import type {Headers} from '../../core/envelope.js';
import {followedRedirect, MAX_REDIRECTS} from './redirect.js';

export type HttpRequestOptions = {
	readonly method: 'POST' | 'GET' | 'DELETE';
	readonly url: URL;
	readonly headers: Headers;
	readonly body?: Buffer;
	/** Called with the head of the response. Returns the handler of the body. `url` is that after redirects. */
	readonly onResponse: (status: number, headers: IncomingHttpHeaders, url: URL) => BodyHandler;
	/** Called if the response is missing or incomplete. `hasResponse` is true if its head was received. */
	readonly onError: (error: Error, hasResponse: boolean) => void;
};

export type BodyHandler = {
	readonly onData: (chunk: Buffer, controller: BodyController) => void;
	readonly onEnd: () => void;
};

export type BodyController = {pause(): void; resume(): void; stop(): void};

/** Aborts a request in any state. No handler is called afterwards. */
export type AbortRequest = () => void;

const CONNECT_TIMEOUT_MS = 10_000;
/** The maximum number of sockets to one upstream. Further requests are queued. */
const MAX_SOCKETS = 4096;
const KEEP_ALIVE_MS = 60_000;
const REDIRECT_BODY_MS = 1000;

let sharedAgent: Promise<Agent> | undefined;

/** The connection pool of this process for all upstreams. */
const loadSharedAgent = (): Promise<Agent> => {
	sharedAgent ??= createAgent(CONNECT_TIMEOUT_MS);
	return sharedAgent;
};

/** Creates a connection pool. With `idleMs`, longer `Keep-Alive` hints of the upstream are ignored. */
export const createAgent = (connectMs: number, idleMs?: number): Promise<Agent> =>
	// Node only guesses the named exports of a CommonJS package. The default export always exists.
	import('undici').then(
		({default: {Agent}}) =>
			new Agent({
				connections: MAX_SOCKETS,
				pipelining: 1,
				keepAliveTimeout: idleMs ?? KEEP_ALIVE_MS,
				...(idleMs === undefined ? {} : {keepAliveMaxTimeout: idleMs}),
				connect: {timeout: connectMs},
				// Streams may be silent and requests slow. Their timeouts are elsewhere.
				headersTimeout: 0,
				bodyTimeout: 0,
			}),
	);

let loadedAgent: Agent | undefined;

/** Sends an HTTP request. It is repeated only for the redirects of redirect.ts. */
export function sendHttpRequest(request: HttpRequestOptions): AbortRequest {
	return sendFollowingRedirects(request, MAX_REDIRECTS);
}

function sendFollowingRedirects(request: HttpRequestOptions, redirects: number): AbortRequest {
	let abort: AbortRequest = () => {};
	const follow = (url: URL): void => {
		abort = sendFollowingRedirects({...request, url}, redirects - 1);
	};
	const handler = new RequestHandler(request, redirects > 0 ? follow : undefined);
	abort = () => handler.stop();
	if (loadedAgent) loadedAgent.dispatch(handler.options, handler);
	else
		void loadSharedAgent().then(loaded => {
			loadedAgent = loaded;
			if (!handler.isOver) loaded.dispatch(handler.options, handler);
		});
	return () => abort();
}

/** Sends an HTTP request over a separate connection pool. Redirects are not followed. */
export function sendHttpRequestOver(agent: Agent, request: HttpRequestOptions): AbortRequest {
	const handler = new RequestHandler(request);
	agent.dispatch(handler.options, handler);
	return () => handler.stop();
}

class RequestHandler implements Dispatcher.DispatchHandler {
	readonly #request: HttpRequestOptions;
	#controller: Dispatcher.DispatchController | undefined;
	#bodyHandler: BodyHandler | undefined;
	#bodyController: BodyController | undefined;
	#redirectTimer: NodeJS.Timeout | undefined;
	/** Repeats the request at another URL; undefined if redirects are not followed. */
	readonly #follow: ((url: URL) => void) | undefined;
	isOver = false;

	constructor(request: HttpRequestOptions, follow?: (url: URL) => void) {
		this.#request = request;
		this.#follow = follow;
	}

	get options(): Dispatcher.DispatchOptions {
		const {method, url, headers, body} = this.#request;
		const {origin, path} = partsOf(url);
		return {origin, path, method, headers: headers as IncomingHttpHeaders, body: body ?? null};
	}

	stop(): void {
		if (this.isOver) return;
		this.isOver = true;
		this.#controller?.abort(new Error('stopped'));
	}

	onRequestStart(controller: Dispatcher.DispatchController): void {
		this.#controller = controller;
		if (this.isOver) controller.abort(new Error('stopped'));
	}

	onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
		if (this.isOver || status < 200) return;
		const target = this.#follow && followedRedirect(status, headers, this.#request.url);
		if (target) this.#redirect(target);
		else this.#bodyHandler = this.#request.onResponse(status, headers, this.#request.url);
	}

	/** Follows a redirect. Its body is read for a short time, so that the connection can be reused. */
	#redirect(target: URL): void {
		this.isOver = true;
		this.#redirectTimer = setTimeout(
			() => this.#controller?.abort(new Error('redirected')),
			REDIRECT_BODY_MS,
		).unref();
		this.#follow?.(target);
	}

	onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
		if (this.isOver) return;
		this.#bodyController ??= {
			pause: () => controller.pause(),
			resume: () => controller.resume(),
			stop: () => this.stop(),
		};
		this.#bodyHandler?.onData(chunk, this.#bodyController);
	}

	onResponseEnd(): void {
		clearTimeout(this.#redirectTimer);
		if (this.isOver) return;
		this.isOver = true;
		this.#bodyHandler?.onEnd();
	}

	onResponseError(_controller: unknown, error: Error): void {
		clearTimeout(this.#redirectTimer);
		if (this.isOver) return;
		this.isOver = true;
		this.#request.onError(error, this.#bodyHandler !== undefined);
	}
}

/** Cached parts of URLs, since the getters of a URL compute their values on each access. */
const urlParts = new WeakMap<URL, {readonly origin: string; readonly path: string}>();

const partsOf = (url: URL): {readonly origin: string; readonly path: string} => {
	const cached = urlParts.get(url);
	if (cached) return cached;
	const parts = {origin: url.origin, path: `${url.pathname}${url.search}`};
	urlParts.set(url, parts);
	return parts;
};

export function headerValue(headers: IncomingHttpHeaders, name: string): string | undefined {
	const value = headers[name];
	return Array.isArray(value) ? value.join(', ') : value;
}

/** The session id in a response. Equal repeated headers count as one. Different ones yield an invalid id. */
export function sessionIdIn(headers: IncomingHttpHeaders): string | undefined {
	const value = headerValue(headers, 'mcp-session-id');
	const [first, ...others] = value?.split(', ') ?? [];
	return others.every(other => other === first) ? first : value;
}

/** Removes the headers that describe a message. */
export function headersWithoutBody(headers: Headers): Headers {
	const {'content-type': _type, 'mcp-method': _method, 'mcp-name': _name, ...rest} = headers;
	return rest;
}
