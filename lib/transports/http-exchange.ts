import type {IncomingHttpHeaders} from 'node:http';
import type {Agent, Dispatcher} from 'undici';
import type {Headers} from '../envelope.js';
import {MAX_REDIRECTS, redirectOf} from './redirect.js';

/** One HTTP request to an upstream, and what is to be done with its answer. */
export type Exchange = {
	readonly method: 'POST' | 'GET' | 'DELETE';
	readonly url: URL;
	readonly headers: Headers;
	readonly body?: Buffer;
	/** The answer begins. What it returns takes the body, chunk by chunk. */
	/** `url` is the address that responded: another one after a redirect. */
	readonly onHead: (status: number, headers: IncomingHttpHeaders, url: URL) => Reader;
	/** There is no answer, or not the whole of it. `wasBegun` tells whether it had begun. */
	readonly onError: (error: Error, wasBegun: boolean) => void;
};

/** Takes the body of an answer. */
export type Reader = {
	readonly onData: (chunk: Buffer, flow: Flow) => void;
	readonly onEnd: () => void;
};

/** What a reader may do to the stream that it reads. */
export type Flow = {pause(): void; resume(): void; stop(): void};

/** Ends an exchange, wherever it is. Nothing more is heard of it. */
export type Stop = () => void;

const CONNECT_MS = 10_000;
/** Sockets to one upstream. Who wants one more waits for one of them. */
const MAX_SOCKETS = 4096;
const KEEP_ALIVE_MS = 60_000;
const REDIRECT_BODY_MS = 1000;

let shared: Promise<Agent> | undefined;

/** The connections of this process to all upstreams. They are made and kept for all who ask. */
const agent = (): Promise<Agent> => {
	shared ??= newAgent(CONNECT_MS);
	return shared;
};

/** Makes and keeps connections, each of which may take so long to be there, and be of no use for so long. */
export const newAgent = (connectMs: number, idleMs?: number): Promise<Agent> =>
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

let ready: Agent | undefined;

/** Makes an HTTP request. It is only sent again where a redirect asks for that: see redirect.ts. */
export function exchange(request: Exchange): Stop {
	return exchangeAt(request, MAX_REDIRECTS);
}

function exchangeAt(request: Exchange, redirects: number): Stop {
	let stop: Stop = () => {};
	const follow = (url: URL): void => {
		stop = exchangeAt({...request, url}, redirects - 1);
	};
	const handler = new Handler(request, redirects > 0 ? follow : undefined);
	stop = () => handler.stop();
	if (ready) ready.dispatch(handler.options, handler);
	else
		void agent().then(loaded => {
			ready = loaded;
			if (!handler.isOver) loaded.dispatch(handler.options, handler);
		});
	return () => stop();
}

/** Makes one over connections of one's own. */
export function exchangeOver(agent: Agent, request: Exchange): Stop {
	const handler = new Handler(request);
	agent.dispatch(handler.options, handler);
	return () => handler.stop();
}

class Handler implements Dispatcher.DispatchHandler {
	readonly #request: Exchange;
	#controller: Dispatcher.DispatchController | undefined;
	#reader: Reader | undefined;
	#flow: Flow | undefined;
	#limit: NodeJS.Timeout | undefined;
	/** Repeats the request at another address; undefined where redirects are not followed. */
	readonly #follow: ((url: URL) => void) | undefined;
	isOver = false;

	constructor(request: Exchange, follow?: (url: URL) => void) {
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
		const target = this.#follow && redirectOf(status, headers, this.#request.url);
		if (target) this.#redirect(target);
		else this.#reader = this.#request.onHead(status, headers, this.#request.url);
	}

	/** The body of a redirect is of no use. It is read in a short time, so that the connection can be used again. */
	#redirect(target: URL): void {
		this.isOver = true;
		this.#limit = setTimeout(
			() => this.#controller?.abort(new Error('redirected')),
			REDIRECT_BODY_MS,
		).unref();
		this.#follow?.(target);
	}

	onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
		if (this.isOver) return;
		this.#flow ??= {
			pause: () => controller.pause(),
			resume: () => controller.resume(),
			stop: () => this.stop(),
		};
		this.#reader?.onData(chunk, this.#flow);
	}

	onResponseEnd(): void {
		clearTimeout(this.#limit);
		if (this.isOver) return;
		this.isOver = true;
		this.#reader?.onEnd();
	}

	onResponseError(_controller: unknown, error: Error): void {
		clearTimeout(this.#limit);
		if (this.isOver) return;
		this.isOver = true;
		this.#request.onError(error, this.#reader !== undefined);
	}
}

/** The parts of addresses that requests are made to. A URL works each of them out anew whenever it is asked. */
const known = new WeakMap<URL, {readonly origin: string; readonly path: string}>();

const partsOf = (url: URL): {readonly origin: string; readonly path: string} => {
	const found = known.get(url);
	if (found) return found;
	const parts = {origin: url.origin, path: `${url.pathname}${url.search}`};
	known.set(url, parts);
	return parts;
};

/** One value of a header that may be there several times. */
export function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
	const value = headers[name];
	return Array.isArray(value) ? value.join(', ') : value;
}

/** The session id in a response. One that was sent several times counts once; different ones stay what they are, which is not an id. */
export function sessionIn(headers: IncomingHttpHeaders): string | undefined {
	const value = headerOf(headers, 'mcp-session-id');
	const [first, ...others] = value?.split(', ') ?? [];
	return others.every(other => other === first) ? first : value;
}

/** The headers of a request without a body. */
export function streamHeaders(headers: Headers): Headers {
	const {'content-type': _type, 'mcp-method': _method, 'mcp-name': _name, ...rest} = headers;
	return rest;
}
