import type {IncomingHttpHeaders} from 'node:http';
import {Observable, type Subscriber} from 'rxjs';
import {Envelope, type Headers, type Origin} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {HeldMessages} from '../held-messages.js';
import type {Log} from '../log.js';
import {MESSAGE_LIMIT} from '../operators/frame.js';
import type {Endpoint} from '../stage.js';
import {Valve} from '../valve.js';
import {warnLimited} from '../warn-limited.js';
import {type SseEvent, SseParser} from '../wire/sse.js';
import {reasonOf} from './failure-reason.js';
import {exchange, type Reader, type Stop} from './http-exchange.js';
import {failedRequest, MAX_REFUSAL_BYTES, type Refused, refused} from './refusal.js';
import {ValveFlow} from './valve-flow.js';
import {wholeMessage} from './whole-message.js';

export type SseClientOptions = {
	readonly name: string;
	readonly url: URL;
	/** What every request to the server is sent with. */
	readonly headers?: () => Headers;
	readonly log: Log;
	readonly maxBytes?: number;
};

/**
 * A server that speaks HTTP+SSE of 2024-11-05: it says where messages are to be posted in the first event of a stream, and
 * answers in those that follow. What is said before that waits.
 */
export function sseClient(options: SseClientOptions): Endpoint {
	const client = new SseClient(options);
	return {
		name: options.name,
		incoming: new Observable(subscriber => client.start(subscriber)),
		outgoing: {next: envelope => client.say(envelope), error: () => {}, complete: () => {}},
		gone: client.gone,
		close: async () => client.close(),
	};
}

class SseClient {
	readonly gone: Promise<void>;
	readonly #options: SseClientOptions;
	readonly #origin: Origin;
	readonly #parser: SseParser;
	/** What has not been posted yet. One message is posted after the other, since they would overtake each other else. */
	readonly #held = new HeldMessages();
	/** The foremost of them. */
	#foremost: Envelope[] = [];
	#listener: Subscriber<Envelope> | undefined;
	/** Where messages are posted, as soon as the server has said so. */
	/** The address of the stream, after redirects. */
	#base: URL;
	#target: URL | undefined;
	#isPosting = false;
	readonly #flow: ValveFlow;
	#isOver = false;
	#stopStream: Stop = () => {};
	#stopPost: Stop = () => {};
	#tellGone: () => void = () => {};

	constructor(options: SseClientOptions) {
		this.#options = options;
		this.#base = options.url;
		this.#origin = {name: options.name, valve: new Valve()};
		this.#flow = new ValveFlow(this.#origin.valve);
		this.#parser = new SseParser(options.maxBytes ?? MESSAGE_LIMIT, {
			event: event => this.#heard(event),
			tooLarge: (start, oversized) => this.#listener?.next(Envelope.tooLarge(start, oversized, this.#origin)),
		});
		this.gone = new Promise(resolve => {
			this.#tellGone = resolve;
		});
	}

	start(listener: Subscriber<Envelope>): () => void {
		this.#listener = listener;
		this.#stopStream = exchange({
			method: 'GET',
			url: this.#options.url,
			headers: {...this.#headers(), accept: 'text/event-stream'},
			onHead: (status, headers, url) => {
				this.#base = url;
				return this.#begun(status, headers);
			},
			onError: error => this.#end(this.#lost(reasonOf(error))),
		});
		return () => this.close();
	}

	say(envelope: Envelope): void {
		if (this.#isOver) return;
		this.#held.add(envelope);
		this.#postNext();
	}

	close(): void {
		this.#end();
	}

	#headers(): Headers {
		return {...this.#options.headers?.(), 'accept-encoding': 'identity'};
	}

	#begun(status: number, headers: IncomingHttpHeaders): Reader {
		const type = String(headers['content-type'] ?? '');
		if (status !== 200) return this.#refusal(status, headers, failure => this.#endRefused(failure));
		if (!type.startsWith('text/event-stream'))
			this.#end(this.#lost(`it responded with ${type || 'no Content-Type'} instead of events`));
		return {
			onData: (chunk, flow) => {
				this.#parser.push(chunk);
				this.#flow.check(flow);
			},
			onEnd: () => this.#end(this.#lost('its stream of events ended')),
		};
	}

	/** The stream was refused, and with it all that waits. */
	#endRefused(failure: Refused): void {
		for (const envelope of this.#held.takeAll()) this.#fail(envelope, failure);
		this.#end(failure.error);
	}

	#heard({event = 'message', line, data}: SseEvent): void {
		if (event === 'endpoint') this.#found(String(data));
		else if (event !== 'message') {
			const sentence = `${this.#options.name} sent an event that is no message; it was dropped.`;
			this.#options.log.debug('sse.other_event', sentence);
		} else if (line.length > 1) this.#listener?.next(messageIn(line, data, this.#origin));
	}

	#found(address: string): void {
		const {name, log} = this.#options;
		const url = this.#base;
		if (this.#target) {
			const sentence = `${name} sent another endpoint event; it was ignored.`;
			warnLimited(log, 'sse.second_endpoint', sentence, {}, name);
			return;
		}
		const target = URL.canParse(address, url.href) ? new URL(address, url) : undefined;
		if (target?.origin !== url.origin) {
			this.#end(elsewhere(name));
			return;
		}
		this.#target = target;
		this.#postNext();
	}

	#postNext(): void {
		if (this.#isPosting || this.#isOver || !this.#target) return;
		if (this.#foremost.length === 0) this.#foremost = this.#held.takeAll();
		const envelope = this.#foremost.shift();
		if (envelope) this.#post(envelope, this.#target);
	}

	#post(envelope: Envelope, url: URL): void {
		this.#isPosting = true;
		let isTaken = false;
		const done = (): void => {
			this.#isPosting = false;
			this.#postNext();
		};
		this.#stopPost = exchange({
			method: 'POST',
			url,
			body: envelope.bytes,
			headers: {...this.#headers(), ...envelope.headers, 'content-type': 'application/json'},
			onHead: (status, headers) => {
				isTaken = status < 300;
				if (isTaken) {
					// Whatever the rest of it is, and however long it takes.
					done();
					return {onData: () => {}, onEnd: () => {}};
				}
				return this.#refusal(status, headers, failure => {
					this.#fail(envelope, failure);
					done();
				});
			},
			onError: error => {
				if (isTaken) return;
				this.#fail(envelope, {error: this.#lost(`a message could not be posted: ${reasonOf(error)}`)});
				done();
			},
		});
	}

	/** Tells whoever sent a message that it did not arrive. */
	#fail(envelope: Envelope, failure: Pick<Refused, 'error'> & Partial<Refused>): void {
		const {name, log} = this.#options;
		const answer = failedRequest(envelope, name, failure);
		if (answer) this.#listener?.next(answer);
		else
			log.warn(
				'http.not_taken',
				`${name} did not take ${envelope.head.method ?? 'an answer'}: ${failure.error.message}`,
			);
	}

	/** Reads the body of a refusal, as much of it as is of use. */
	#refusal(status: number, headers: IncomingHttpHeaders, done: (failure: Refused) => void): Reader {
		const chunks: Buffer[] = [];
		let length = 0;
		const finish = (): void => {
			const body = Buffer.concat(chunks).subarray(0, MAX_REFUSAL_BYTES);
			done(refused(this.#options, {status, headers, body}));
		};
		return {
			onData: (chunk, flow) => {
				chunks.push(chunk);
				length += chunk.length;
				if (length < MAX_REFUSAL_BYTES) return;
				flow.stop();
				finish();
			},
			onEnd: finish,
		};
	}

	#end(error?: BridgeError): void {
		if (this.#isOver) return;
		this.#isOver = true;
		this.#stopStream();
		this.#stopPost();
		this.#held.takeAll();
		if (error) this.#listener?.error(error);
		else this.#listener?.complete();
		this.#tellGone();
	}

	#lost(reason: string): BridgeError {
		const {name} = this.#options;
		return new BridgeError(
			'ERR_UPSTREAM_UNREACHABLE',
			`${name} cannot be reached: ${reason}.`,
			'Check the address, and that the server runs.',
		);
	}
}

/** An event mostly is one line, which is what a message is. */
const messageIn = (line: Buffer, data: Buffer, origin: Origin): Envelope =>
	line.indexOf('\n') === data.length ? Envelope.received(line, origin) : wholeMessage(data, origin);

const elsewhere = (name: string): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_INVALID',
		`${name} wants messages to be posted to another host than its own.`,
		'That would tell them, and the credentials with them, to somebody else. Tell whoever makes that server.',
	);
