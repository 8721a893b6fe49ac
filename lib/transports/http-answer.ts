import type {IncomingHttpHeaders} from 'node:http';
import {Envelope, type Headers, type Origin} from '../envelope.js';
import {BridgeError, type Details} from '../errors.js';
import {WholeBody} from '../http/whole-body.js';
import type {Log} from '../log.js';
import {Valve} from '../valve.js';
import {warnLimited} from '../warn-limited.js';
import {EventReader} from './event-reader.js';
import {reasonOf} from './failure-reason.js';
import {exchange, headerOf, type Reader, type Stop, sessionIn, streamHeaders} from './http-exchange.js';
import {isUnheard, refusedWith} from './http-failure.js';
import {receivedInParts} from './received.js';
import {REDIRECT_RULE, redirectTarget} from './redirect.js';

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
	'ping',
	'tools/list',
	'prompts/list',
	'resources/list',
	'resources/templates/list',
];
const none: Headers = {};
/** After how long a server is tried again that did not even take the connection: it may be about to start. */
const AGAIN_MS = 200;

/** How long a stream may stay open behind the answer. */
const GOODBYE_MS = 1000;

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
		const [first, ...others] = request.bytesInParts;
		const body = first && others.length === 0 ? first : request.bytes;
		this.#stop = exchange({
			method: 'POST',
			url,
			headers: request.headers ?? none,
			body,
			onHead: (status, headers) => this.#begun(status, headers),
			onError: (error, wasBegun) => this.#broken(error, wasBegun),
		});
	}

	#broken(error: Error, wasBegun: boolean): void {
		if (this.#reader) {
			this.#interrupted();
			return;
		}
		const mayRepeat = !wasBegun && !this.#isRepeated && !this.#isOver;
		this.#isRepeated = true;
		if (mayRepeat && isUnheard(error)) this.#timer = setTimeout(() => this.start(), AGAIN_MS);
		else if (mayRepeat && harmless.includes(this.#options.request.head.method)) this.start();
		else this.#fail(reasonOf(error), {connection: 'failed'});
	}

	/** Whether it is a request of the era without sessions. */
	get #isModern(): boolean {
		return this.#options.request.headers?.['mcp-method'] !== undefined;
	}

	/** Nobody waits for it any more. */
	stop(): void {
		if (this.#isOver) return;
		this.#finish();
		this.#stop();
	}

	#begun(status: number, headers: IncomingHttpHeaders): Reader {
		const {name, request} = this.#options;
		const session = sessionIn(headers);
		const {id} = request.head;
		const {valve} = this.#origin;
		const told: Headers = session === undefined ? none : {'mcp-session-id': session};
		this.#origin = id === undefined ? {name, valve, headers: told} : {name, valve, headers: told, within: id};
		const type = typeOf(headers);
		if (status < 300 && type.startsWith(EVENTS)) return this.#events();
		return this.#whole(status, headers, type);
	}

	/** An answer that is one piece. */
	#whole(status: number, headers: IncomingHttpHeaders, type: string): Reader {
		const body = new WholeBody(status < 300 ? this.#options.maxBytes : MAX_REFUSAL);
		return {
			onData: (chunk, flow) => {
				if (body.add(chunk)) return;
				flow.stop();
				if (status >= 400) this.#refused(status, headers, undefined);
				else this.#tooLarge();
			},
			onEnd: () => {
				if (status >= 400) this.#refused(status, headers, body.bytes());
				else if (status >= 300) this.#redirected(status, headers);
				else if (body.length === 0) this.#fail(`it answered with status ${status} and nothing else`);
				else if (!type.startsWith('application/json'))
					this.#fail(`it responded with ${type || 'no Content-Type'}, which is not MCP`);
				else this.#heard(body);
			},
		};
	}

	#heard(body: WholeBody): void {
		for (const envelope of receivedInParts(body.parts(), body.length, this.#origin)) this.#hear(envelope);
		if (!this.#isOver) this.#fail('it answered something else than it was asked');
	}

	#hear(envelope: Envelope): void {
		if (this.#isOver) return;
		const {key, method} = envelope.head;
		const isAnswer = method === undefined && key === this.#options.request.head.key;
		this.#resumptions = 0;
		if (isAnswer) this.#finish();
		// A stream that its server leaves open behind the answer would keep a connection for nothing.
		if (isAnswer && this.#reader) this.#timer = setTimeout(this.#stop, GOODBYE_MS).unref();
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
		clearTimeout(this.#timer);
		if (this.#isOver) return;
		const {lastEventId, retryMs} = this.#reader ?? {};
		// Without sessions there is nothing that could be taken up again.
		if (lastEventId === undefined || this.#isModern || ++this.#resumptions > MAX_RESUMPTIONS)
			this.#fail('its stream ended before the answer');
		else this.#timer = setTimeout(() => this.#resume(lastEventId), retryMs);
	}

	#resume(lastEventId: string): void {
		const {url, request} = this.#options;
		const headers = streamHeaders(request.headers ?? {});
		this.#stop = exchange({
			method: 'GET',
			url,
			headers: {...headers, accept: EVENTS, 'last-event-id': lastEventId},
			onHead: (status, received) => {
				if (status < 300 && typeOf(received).startsWith(EVENTS)) return this.#events();
				this.#fail(`its stream ended before the answer, and cannot be taken up again (status ${status})`);
				return {onData: () => {}, onEnd: () => {}};
			},
			onError: () => this.#interrupted(),
		});
	}

	/** The client may want to know how it was refused, in full. */
	#refused(status: number, headers: IncomingHttpHeaders, body: Buffer | undefined): void {
		const {hear, request, name} = this.#options;
		if (this.#isOver || request.head.id === undefined) return;
		this.#finish();
		hear(refusedWith({name, request, isModern: this.#isModern}, this.#origin, {status, headers, body}));
	}

	/** A redirect that is not followed: its target may be another server, which must not get the credentials of this one. */
	#redirected(status: number, headers: IncomingHttpHeaders): void {
		const {name, log, url} = this.#options;
		const target = redirectTarget(headers, url);
		const what = `responded with status ${status}, a redirect to ${target}; ${REDIRECT_RULE}`;
		warnLimited(log, 'http.redirected', `${name} ${what}.`, {server: name, status, target}, name);
		this.#fail(
			`it ${what}`,
			{},
			'Set the url of that server to where it is now, if it is to get the credentials.',
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

	#fail(reason: string, details: Details = {}, remedy = CHECK): void {
		const {name} = this.#options;
		const message = `${name} gave no answer: ${reason}.`;
		this.#conclude(new BridgeError('ERR_UPSTREAM_UNREACHABLE', message, remedy, details));
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

const CHECK = 'Check that it runs, that its address is right, and that it is an MCP server.';

const EVENTS = 'text/event-stream';

const typeOf = (headers: IncomingHttpHeaders): string =>
	(headerOf(headers, 'content-type') ?? '').toLowerCase();
