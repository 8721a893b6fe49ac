import type {IncomingHttpHeaders} from 'node:http';
import type {Agent, Dispatcher} from 'undici';
import type {Headers} from '../../core/envelope.js';
import {followedRedirect, MAX_REDIRECTS} from './redirect.js';

/** One HTTP request to an upstream, and what is to be done with its answer. */
export type HttpRequestOptions = {
	readonly method: 'POST' | 'GET' | 'DELETE';
	readonly url: URL;
	readonly headers: Headers;
	readonly body?: Buffer;
	/** The answer begins. What it returns takes the body, chunk by chunk. */
	/** `url` is the address that responded: another one after a redirect. */
	readonly onResponse: (status: number, headers: IncomingHttpHeaders, url: URL) => BodyHandler;
	/** There is no answer, or not the whole of it. `wasBegun` tells whether it had begun. */
	readonly onError: (error: Error, hasResponse: boolean) => void;
};

/** Takes the body of an answer. */
export type BodyHandler = {
	readonly onData: (chunk: Buffer, controller: BodyController) => void;
	readonly onEnd: () => void;
};

/** What a reader may do to the stream that it reads. */
export type BodyController = {pause(): void; resume(): void; stop(): void};

/** Ends an exchange, wherever it is. Nothing more is heard of it. */
export type AbortRequest = () => void;

const CONNECT_TIMEOUT_MS = 10_000;
/** Sockets to one upstream. Who wants one more waits for one of them. */
const MAX_SOCKETS = 4096;
const KEEP_ALIVE_MS = 60_000;
const REDIRECT_BODY_MS = 1000;

let sharedAgent: Promise<Agent> | undefined;

/** The connections of this process to all upstreams. They are made and kept for all who ask. */
const loadSharedAgent = (): Promise<Agent> => {
	sharedAgent ??= createAgent(CONNECT_TIMEOUT_MS);
	return sharedAgent;
};

/** Makes and keeps connections, each of which may take so long to be there, and be of no use for so long. */
export const createAgent = (connectMs: number, idleMs?: number): Promise<Agent> =>
	// The names of a CommonJS package are guessed by Node; its default is always there.
	import('undici').then(
		({default: {Agent}}) =>
			new Agent({
				connections: MAX_SOCKETS,
				pipelining: 1,
				keepAliveTimeout: idleMs ?? KEEP_ALIVE_MS,
				// Whatever the other side says about it.
				...(idleMs === undefined ? {} : {keepAliveMaxTimeout: idleMs}),
				connect: {timeout: connectMs},
				// A stream may be silent for as long as it likes, and a request take long: that is limited elsewhere.
				headersTimeout: 0,
				bodyTimeout: 0,
			}),
	);

let loadedAgent: Agent | undefined;

/** Makes an HTTP request. It is only sent again where a redirect asks for that: see redirect.ts. */
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

/** Makes one over connections of one's own. */
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
	/** Repeats the request at another address; undefined where redirects are not followed. */
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

	/** The body of a redirect is of no use. It is read in a short time, so that the connection can be used again. */
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

/** The parts of addresses that requests are made to. A URL works each of them out anew whenever it is asked. */
const urlParts = new WeakMap<URL, {readonly origin: string; readonly path: string}>();

const partsOf = (url: URL): {readonly origin: string; readonly path: string} => {
	const cached = urlParts.get(url);
	if (cached) return cached;
	const parts = {origin: url.origin, path: `${url.pathname}${url.search}`};
	urlParts.set(url, parts);
	return parts;
};

/** One value of a header that may be there several times. */
export function headerValue(headers: IncomingHttpHeaders, name: string): string | undefined {
	const value = headers[name];
	return Array.isArray(value) ? value.join(', ') : value;
}

/** The session id in a response. One that was sent several times counts once; different ones stay what they are, which is not an id. */
export function sessionIdIn(headers: IncomingHttpHeaders): string | undefined {
	const value = headerValue(headers, 'mcp-session-id');
	const [first, ...others] = value?.split(', ') ?? [];
	return others.every(other => other === first) ? first : value;
}

/** The headers of a request without a body. */
export function headersWithoutBody(headers: Headers): Headers {
	const {'content-type': _type, 'mcp-method': _method, 'mcp-name': _name, ...rest} = headers;
	return rest;
}
