import type {IncomingHttpHeaders} from 'node:http';
import {Envelope, type Headers, type Origin} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {WholeBody} from '../http/whole-body.js';
import type {Log} from '../log.js';
import {objectOf} from '../protocol/json.js';
import {Valve} from '../valve.js';
import {EventReader} from './event-reader.js';
import {exchange, headerOf, type Reader, type Stop, streamHeaders} from './http-exchange.js';
import {received} from './received.js';

export type HttpAnswerOptions = {
	readonly name: string;
	readonly url: URL;
	readonly log: Log;
	readonly maxBytes: number;
	readonly request: Envelope;
	readonly hear: (envelope: Envelope) => void;
	/** Nothing more will be heard in answer to this request. */
	readonly done: () => void;
};

/** How often a stream that ends without the answer is taken up again, if nothing new comes of it. */
const MAX_RESUMPTIONS = 5;
/** How much of the body of a refusal is passed on. */
const MAX_REFUSAL = 2 ** 20;
/** What may be asked again if it is not known whether it arrived: it changes nothing. */
const harmless: readonly unknown[] = [
	...['ping', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'],
];
/** What a client is told of the headers of a refusal. */
const told = ['content-type', 'www-authenticate', 'retry-after', 'allow'] as const;

/** One request to a server behind HTTP, until its answer is there, however it comes. */
export class HttpAnswer {
	readonly #options: HttpAnswerOptions;
	#origin: Origin;
	#reader: EventReader | undefined;
	#stop: Stop = () => {};
	#timer: NodeJS.Timeout | undefined;
	#isOver = false;
	#isRepeated = false;
	#resumptions = 0;

	constructor(options: HttpAnswerOptions) {
		this.#options = options;
		this.#origin = {name: options.name, valve: new Valve()};
	}

	start(): void {
		const {url, request} = this.#options;
		this.#stop = exchange({
			...{method: 'POST', url, headers: request.headers ?? {}, body: request.bytes},
			onHead: (status, headers) => this.#begun(status, headers),
			onError: (error, wasBegun) => this.#broken(error, wasBegun),
		});
	}

	#broken(error: Error, wasBegun: boolean): void {
		if (this.#reader) {
			this.#interrupted();
			return;
		}
		const mayRepeat = !wasBegun && !this.#isRepeated && harmless.includes(this.#options.request.head.method);
		this.#isRepeated = true;
		if (mayRepeat) this.start();
		else this.#fail(reasonOf(error));
	}

	/** Nobody waits for it any more. */
	stop(): void {
		if (this.#isOver) return;
		this.#finish();
		this.#stop();
	}

	#begun(status: number, headers: IncomingHttpHeaders): Reader {
		const {name, request} = this.#options;
		const session = headerOf(headers, 'mcp-session-id');
		this.#origin = {
			...{name, valve: this.#origin.valve, headers: session === undefined ? {} : {'mcp-session-id': session}},
			...(request.head.id === undefined ? {} : {within: request.head.id}),
		};
		const type = headerOf(headers, 'content-type') ?? '';
		if (status < 300 && type.startsWith('text/event-stream')) return this.#events();
		return this.#whole(status, headers, type);
	}

	/** An answer that is one piece. */
	#whole(status: number, headers: IncomingHttpHeaders, type: string): Reader {
		const body = new WholeBody(status < 300 ? this.#options.maxBytes : MAX_REFUSAL);
		return {
			onData: (chunk, flow) => {
				if (body.add(chunk)) return;
				flow.stop();
				this.#tooLarge();
			},
			onEnd: () => {
				if (status >= 400) this.#refused(status, headers, body.bytes());
				else if (status >= 300) this.#fail(redirected(status, headers));
				else if (body.length === 0) this.#fail(`it answered with status ${status} and nothing else`);
				else if (!type.startsWith('application/json'))
					this.#fail(`it answered with ${type || 'something that has no type'}`);
				else this.#heard(body.line());
			},
		};
	}

	#heard(text: Buffer): void {
		for (const envelope of received(text, this.#origin)) this.#hear(envelope);
		if (!this.#isOver) this.#fail('it answered something else than it was asked');
	}

	#hear(envelope: Envelope): void {
		if (this.#isOver) return;
		const {key, method} = envelope.head;
		const isAnswer = method === undefined && key === this.#options.request.head.key;
		this.#resumptions = 0;
		if (isAnswer) this.#finish();
		this.#options.hear(envelope);
	}

	#events(): Reader {
		const {maxBytes} = this.#options;
		const {origin, lastEventId} = {origin: this.#origin, lastEventId: this.#reader?.lastEventId};
		const hear = (envelope: Envelope): void => this.#hear(envelope);
		this.#reader = new EventReader({origin, maxBytes, lastEventId, hear, onEnd: () => this.#interrupted()});
		return this.#reader;
	}

	/** The stream has ended before the answer. It can be taken up where it was, if the server has said where that is. */
	#interrupted(): void {
		if (this.#isOver) return;
		const {lastEventId, retryMs} = this.#reader ?? {};
		if (lastEventId === undefined || ++this.#resumptions > MAX_RESUMPTIONS)
			this.#fail('its stream ended before the answer');
		else this.#timer = setTimeout(() => this.#resume(lastEventId), retryMs);
	}

	#resume(lastEventId: string): void {
		const {url, request} = this.#options;
		const headers = streamHeaders(request.headers ?? {});
		this.#stop = exchange({
			...{method: 'GET', url},
			headers: {...headers, accept: 'text/event-stream', 'last-event-id': lastEventId},
			onHead: status => {
				if (status < 300) return this.#events();
				this.#fail(`its stream ended before the answer, and cannot be taken up again (status ${status})`);
				return {onData: () => {}, onEnd: () => {}};
			},
			onError: () => this.#interrupted(),
		});
	}

	/** The server, or whoever stands before it, did not take the request. The client may want to know how, in full. */
	#refused(status: number, headers: IncomingHttpHeaders, body: Buffer): void {
		const {hear, request, name} = this.#options;
		const {id} = request.head;
		if (this.#isOver || id === undefined) return;
		this.#finish();
		const kept: Record<string, string> = {};
		for (const header of told) {
			const value = headerOf(headers, header);
			if (value !== undefined) kept[header] = value;
		}
		const origin = {...this.#origin, refusal: {status, headers: kept as Headers, body}};
		const error = errorIn(body);
		const refusal = new BridgeError(
			'ERR_UPSTREAM_UNREACHABLE',
			`${name} answered with HTTP status ${status}.`,
			status === 401
				? 'Give it the credentials that it asks for.'
				: 'See what its own log says of the request.',
			{status},
		);
		hear(
			error === undefined
				? Envelope.failure(id, refusal, origin)
				: Envelope.answer(id, 'error', error, origin),
		);
	}

	#tooLarge(): void {
		const {name, maxBytes} = this.#options;
		this.#conclude(
			new BridgeError(
				'ERR_MESSAGE_TOO_LARGE',
				`The answer of ${name} is longer than the limit of ${maxBytes} bytes.`,
				'Ask for less at a time, or raise limits.message.',
				{limit: maxBytes},
			),
		);
	}

	#fail(reason: string): void {
		const {name} = this.#options;
		this.#conclude(
			new BridgeError(
				'ERR_UPSTREAM_UNREACHABLE',
				`${name} gave no answer: ${reason}.`,
				'Check that it runs, that its address is right, and that it is an MCP server.',
			),
		);
	}

	#conclude(error: BridgeError): void {
		const {hear, request} = this.#options;
		if (this.#isOver || request.head.id === undefined) return;
		this.#finish();
		hear(Envelope.failure(request.head.id, error, this.#origin));
	}

	#finish(): void {
		this.#isOver = true;
		clearTimeout(this.#timer);
		this.#options.done();
	}
}

/** Why there is no answer, for people: nothing of it tells where else the server may be. */
function reasonOf(error: NodeJS.ErrnoException): string {
	const reasons: {[code: string]: string} = {
		ECONNREFUSED: 'nobody listens there',
		ENOTFOUND: 'there is no such host',
		EAI_AGAIN: 'its name cannot be looked up now',
		ECONNRESET: 'the connection was reset',
		UND_ERR_SOCKET: 'the connection was closed',
		UND_ERR_CONNECT_TIMEOUT: 'it does not take connections',
	};
	return reasons[error.code ?? ''] ?? error.message;
}

function redirected(status: number, headers: IncomingHttpHeaders): string {
	const location = headerOf(headers, 'location') ?? '';
	const host = URL.canParse(location) ? new URL(location).host : 'another place';
	return `it answered with status ${status}, which points to ${host}, and redirects are not followed`;
}

/** The error of JSON-RPC in the body of a refusal. */
function errorIn(body: Buffer): unknown {
	if (!body.toString('latin1', 0, 64).trimStart().startsWith('{')) return;
	try {
		const {error} = objectOf(JSON.parse(body.toString()));
		return error;
	} catch {
		return;
	}
}
