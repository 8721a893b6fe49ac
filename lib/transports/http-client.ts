import type {IncomingHttpHeaders} from 'node:http';
import {Channel} from '../channel.js';
import type {Envelope, Headers} from '../envelope.js';
import {HeldMessages} from '../held-messages.js';
import type {Log} from '../log.js';
import {MESSAGE_LIMIT} from '../operators/frame.js';
import {PassingMap} from '../passing-map.js';
import type {Endpoint} from '../stage.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import {type Carriage, isWord, LISTEN, RESUMED, SESSION, type Word} from './carriage.js';
import {HttpAnswer} from './http-answer.js';
import {type Exchange, exchange, type Stop, streamHeaders} from './http-exchange.js';
import {HttpNotices} from './http-notices.js';
import {ListeningStream} from './listening-stream.js';
import {sessionWord} from './session-word.js';

export type HttpClientOptions = {
	readonly name: string;
	readonly url: URL;
	readonly log: Log;
	readonly maxBytes?: number;
	/** How long the server may take for a message that has no response, in milliseconds. */
	readonly noticeMs?: number;
	/** Where any of several replicas may carry the conversation on. */
	readonly carriage?: Carriage | undefined;
};

/** How long what follows waits for a server to take note that the handshake is complete. */
const COMPLETION_MS = 10_000;
/** How long the end of a session may take. */
const GOODBYE_MS = 1000;

/**
 * A server behind streamable HTTP: every message is a request of its own, and its answer comes as JSON or as events.
 *
 * Messages leave with the headers that the stages have put on them. What the server says of its own accord comes on a
 * stream that is opened once the handshake is complete.
 */
export function httpClient(options: HttpClientOptions): Endpoint {
	const client = new Client(options);
	return {
		name: options.name,
		incoming: client.incoming,
		outgoing: {next: envelope => client.say(envelope), error: () => {}, complete: () => {}},
		gone: new Promise(() => {}),
		close: () => client.end(),
		holds: id => client.holds(id),
	};
}

class Client {
	readonly incoming = new Channel();
	readonly #options: HttpClientOptions;
	/** What is under way, by the key of the request that was made. */
	readonly #open = new PassingMap<string, HttpAnswer>();
	/** What waits until the server has heard that the handshake is complete: on another connection it may come first. */
	readonly #held = new HeldMessages();
	readonly #notices: HttpNotices;
	#isCompleting = false;
	/** The headers of the last message that the server took, for what is no message. */
	#headers: Headers = {};
	/** The id that the session has got since its first response, for messages that were queued before. */
	#renamed: string | undefined;
	#listening: ListeningStream | undefined;
	/** Whether what the server says of its own accord is listened to. */
	#isListening: boolean;
	#isOver = false;

	constructor(options: HttpClientOptions) {
		this.#options = options;
		this.#notices = new HttpNotices({...options, onHead: (...heads) => this.#named(...heads)});
		this.#isListening = options.carriage === undefined;
	}

	say(envelope: Envelope): void {
		if (this.#isOver) return;
		if (envelope.head.method === SESSION && !envelope.original.isReceived) this.#rename(envelope.headers);
		else if (!this.#isCompleting) this.#post(envelope);
		else if (!this.#isForHeld(envelope)) this.#held.add(envelope);
	}

	holds(id: string): boolean {
		return this.#held.has(id);
	}

	/** Whether it cancels a request that has not been sent, which is dropped then. */
	#isForHeld({head: {method}, bytes}: Envelope): boolean {
		if (method !== 'notifications/cancelled') return false;
		const id = memberText(bytes, 'params', 'requestId');
		return id !== undefined && this.#held.remove(id);
	}

	#post(envelope: Envelope): void {
		const {method, key} = envelope.head;
		this.#headers = envelope.headers ?? {};
		if (this.#options.carriage && isWord(method)) {
			this.#hear(method);
			return;
		}
		if (method === 'initialize') {
			this.#stopListening();
			this.#renamed = undefined;
			if (this.#options.carriage) this.#options.carriage.heard = undefined;
		}
		if (method === 'notifications/initialized') this.#complete(envelope, 2);
		else if (method === 'notifications/cancelled') this.#cancel(envelope);
		else if (key !== undefined && method !== undefined) this.#ask(envelope, key);
		else this.#notices.post(envelope);
	}

	#named(received: IncomingHttpHeaders, sent: Headers): void {
		const word = this.#isOver ? undefined : sessionWord(this.#options.name, received, sent);
		if (word) this.incoming.next(word);
	}

	/** The session has another id. A server may have rejected the stream for want of it. */
	#rename(headers: Headers = {}): void {
		this.#headers = headers;
		this.#renamed = headers['mcp-session-id'];
		if (this.#listening && !this.#listening.isOpen && this.#isListening) this.#listen();
	}

	/** What bridge says itself is for here. A word is followed from then on, also in a session that takes the place of this. */
	#hear(word: Word): void {
		if (word === RESUMED) return;
		this.#isListening = word === LISTEN;
		if (!this.#isListening) this.#stopListening();
		else if (!this.#listening?.isOpen) this.#listen();
	}

	#ask(envelope: Envelope, key: string): void {
		const {name, log, url, maxBytes = MESSAGE_LIMIT} = this.#options;
		const answer = new HttpAnswer({
			name,
			url,
			log,
			maxBytes,
			request: envelope,
			hear: heard => this.incoming.next(heard),
			done: () => {
				if (this.#open.get(key) === answer) this.#open.delete(key);
			},
		});
		this.#open.set(key, answer);
		answer.start();
	}

	/** The server hears of nothing else until it knows that the handshake is complete; then what it says itself is listened to. */
	#complete(envelope: Envelope, tries: number): void {
		this.#isCompleting = true;
		let patience: NodeJS.Timeout | undefined;
		const stop = this.#notices.post(envelope, status => {
			clearTimeout(patience);
			const isTaken = status !== undefined && status < 300;
			if (!isTaken && tries > 1) this.#complete(envelope, tries - 1);
			else this.#completed();
		});
		patience = setTimeout(() => {
			stop();
			const {name, log} = this.#options;
			const what = `${name} did not respond to notifications/initialized within ${COMPLETION_MS / 1000} s`;
			log.warn('http.initialized.unanswered', `${what}. Requests that waited for it are sent now.`, {
				server: name,
			});
			this.#completed();
		}, COMPLETION_MS).unref();
	}

	#completed(): void {
		if (!this.#isCompleting) return;
		this.#isCompleting = false;
		if (this.#isOver) return;
		if (this.#isListening) this.#listen();
		for (const held of this.#held.takeAll()) {
			if (this.#renamed !== undefined) held.headers = {...held.headers, 'mcp-session-id': this.#renamed};
			this.say(held);
		}
	}

	#listen(): void {
		this.#stopListening();
		const {name, url, log, maxBytes = MESSAGE_LIMIT, carriage} = this.#options;
		const hear = (heard: Envelope): void => {
			this.#noteHeard();
			this.incoming.next(heard);
		};
		this.#listening = new ListeningStream({
			name,
			url,
			log,
			maxBytes,
			headers: () => streamHeaders(this.#headers),
			onHead: (...heads) => this.#named(...heads),
			lastEventId: carriage?.heard,
			hear,
		});
		this.#listening.open();
	}

	#noteHeard(): void {
		const {carriage} = this.#options;
		if (carriage && this.#listening) carriage.heard = this.#listening.lastEventId;
	}

	#stopListening(): void {
		this.#noteHeard();
		this.#listening?.stop();
		this.#listening = undefined;
	}

	/** Nobody waits for the answer any more. Without sessions, the end of the connection is how the server is told. */
	#cancel(envelope: Envelope): void {
		const id = memberText(envelope.bytes, 'params', 'requestId');
		const key = id === undefined ? undefined : canonicalId(id);
		const answer = key === undefined ? undefined : this.#open.get(key);
		if (!envelope.headers?.['mcp-method']) this.#notices.post(envelope);
		answer?.stop();
	}

	async end(): Promise<number | undefined> {
		if (this.#isOver) return;
		this.#isOver = true;
		this.#held.takeAll();
		this.#stopListening();
		for (const answer of this.#open.values()) answer.stop();
		this.incoming.complete();
		const {carriage} = this.#options;
		if (this.#headers['mcp-session-id'] === undefined || (carriage && !carriage.isFixed && !carriage.isOver))
			return;
		return new Promise(resolve => {
			const stop = this.#exchange({
				method: 'DELETE',
				headers: streamHeaders(this.#headers),
				onHead: status => {
					resolve(status);
					return {onData: () => {}, onEnd: () => {}};
				},
				onError: () => resolve(undefined),
			});
			setTimeout(() => {
				stop();
				resolve(undefined);
			}, GOODBYE_MS).unref();
		});
	}

	#exchange(request: Omit<Exchange, 'url'>): Stop {
		return exchange({url: this.#options.url, ...request});
	}
}
