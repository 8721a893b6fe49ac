import type {Readable} from 'node:stream';
import {Subject} from 'rxjs';
import {Envelope, type Origin} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {MESSAGE_LIMIT} from '../operators/frame.js';
import {objectOf} from '../protocol/json.js';
import {PROTOCOL_VERSION} from '../protocol/v2026-07-28.js';
import type {Endpoint} from '../stage.js';
import {Valve} from '../valve.js';
import {SseParser} from '../wire/sse.js';

export type HttpClientOptions = {
	readonly name: string;
	readonly url: URL;
	readonly maxBytes?: number;
};

/** How long the end of a session may take. */
const GOODBYE_MS = 1000;

/** Members of params that name what a request is about, for the modern era's headers. */
const named: {readonly [method: string]: string} = {
	'tools/call': 'name',
	'prompts/get': 'name',
	'resources/read': 'uri',
};

/** A server behind streamable HTTP: every message is a request of its own, and its answer comes as JSON or as events. */
export function httpClient(options: HttpClientOptions): Endpoint {
	const client = new HttpClient(options);
	return {
		name: options.name,
		incoming: client.incoming,
		outgoing: {
			next: envelope => void client.post(envelope),
			error: () => {},
			complete: () => {},
		},
		gone: new Promise(() => {}),
		close: () => client.close(),
	};
}

class HttpClient {
	readonly incoming = new Subject<Envelope>();
	readonly #options: HttpClientOptions;
	readonly #origin: Origin;
	readonly #stop = new AbortController();
	#session: string | undefined;
	#version: string | undefined;

	constructor(options: HttpClientOptions) {
		this.#options = options;
		this.#origin = {name: options.name, valve: new Valve()};
	}

	async post(envelope: Envelope): Promise<void> {
		try {
			const {request} = await import('undici');
			const {statusCode, headers, body} = await request(this.#options.url, {
				method: 'POST',
				headers: this.#headers(envelope),
				body: envelope.bytes,
				signal: this.#stop.signal,
				// A stream may be silent for as long as its request takes: that is limited elsewhere.
				bodyTimeout: 0,
				headersTimeout: 0,
			});
			const session = headers['mcp-session-id'];
			if (typeof session === 'string') this.#session = session;
			const type = String(headers['content-type'] ?? '');
			if (type.startsWith('text/event-stream')) await this.#events(body);
			else this.#whole(await textOf(body, this.#options.maxBytes), statusCode, envelope);
		} catch (error) {
			if (!this.#stop.signal.aborted)
				this.#fail(envelope, error instanceof Error ? error.message : String(error));
		}
	}

	#headers({head: {method}, body}: Envelope): Record<string, string> {
		const params = objectOf(body.params);
		const modern = objectOf(params._meta)[PROTOCOL_VERSION];
		const version = typeof modern === 'string' ? modern : this.#version;
		const name = named[method ?? ''];
		const subject = name === undefined ? undefined : params[name];
		return {
			accept: 'application/json, text/event-stream',
			'content-type': 'application/json',
			...(this.#session === undefined ? {} : {'mcp-session-id': this.#session}),
			...(version === undefined || method === 'initialize' ? {} : {'mcp-protocol-version': version}),
			...(typeof modern === 'string' && method !== undefined ? {'mcp-method': method} : {}),
			...(typeof modern === 'string' && typeof subject === 'string' ? {'mcp-name': subject} : {}),
		};
	}

	async #events(body: Readable): Promise<void> {
		const parser = new SseParser(this.#options.maxBytes ?? MESSAGE_LIMIT, {
			event: ({data}) => {
				if (data.length > 0) this.#hear(data.toString());
			},
			tooLarge: (start, oversized) => this.incoming.next(Envelope.tooLarge(start, oversized, this.#origin)),
		});
		for await (const chunk of body) parser.push(chunk as Buffer);
	}

	/** An answer that is one piece; also one with a status that says it failed, if it says so in JSON-RPC, too. */
	#whole(text: string, status: number, request: Envelope): void {
		const isRefused = status >= 400;
		if (text.trimStart().startsWith('{')) {
			const {error} = objectOf(JSON.parse(text));
			const {id} = request.head;
			if (isRefused && error !== undefined && id !== undefined) {
				this.incoming.next(Envelope.answer(id, 'error', error, this.#origin));
				return;
			}
			if (!isRefused) {
				this.#hear(text);
				return;
			}
		}
		if (isRefused) this.#fail(request, `it answered with status ${status}`);
	}

	#hear(text: string): void {
		// A message is a line, and a line feed in JSON is nothing but white space.
		const line = Buffer.from(`${text.replaceAll(/[\r\n]/g, ' ')}\n`);
		const envelope = Envelope.received(line, this.#origin);
		const {protocolVersion} = envelope.head.flaw === undefined ? objectOf(envelope.body.result) : {};
		if (typeof protocolVersion === 'string') this.#version = protocolVersion;
		this.incoming.next(envelope);
	}

	#fail({head: {id, method}}: Envelope, reason: string): void {
		if (id === undefined || method === undefined) return;
		const {name, url} = this.#options;
		const error = new BridgeError(
			'ERR_UPSTREAM_UNREACHABLE',
			`${name} cannot be reached at ${url.origin}${url.pathname}: ${reason}.`,
			'Check the address, and that the server runs.',
		);
		this.incoming.next(Envelope.failure(id, error, this.#origin));
	}

	/** Ends the session, if there is one: a server that hears nothing of it is not waited for. */
	async close(): Promise<void> {
		this.#stop.abort();
		this.incoming.complete();
		if (this.#session === undefined) return;
		try {
			const {request} = await import('undici');
			const headers = {
				'mcp-session-id': this.#session,
				...(this.#version ? {'mcp-protocol-version': this.#version} : {}),
			};
			const signal = AbortSignal.timeout(GOODBYE_MS);
			const {body} = await request(this.#options.url, {method: 'DELETE', headers, signal});
			await body.dump();
		} catch {
			// It may have forgotten the session, or never have ended one.
		}
	}
}

async function textOf(body: Readable, maxBytes = MESSAGE_LIMIT): Promise<string> {
	const chunks: Buffer[] = [];
	let length = 0;
	for await (const chunk of body) {
		chunks.push(chunk as Buffer);
		length += (chunk as Buffer).length;
		if (length > maxBytes) throw new RangeError(`an answer of more than ${maxBytes} bytes`);
	}
	return Buffer.concat(chunks).toString();
}
