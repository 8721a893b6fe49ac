import {type Observer, Subject} from 'rxjs';
import {type Body, Envelope} from '../envelope.js';
import {BridgeError} from '../errors.js';
import type {JsonObject} from '../protocol/json.js';
import type {Endpoint} from '../stage.js';
import {writeExact} from '../wire/exact-integers.js';
import {canonicalId} from '../wire/id.js';

/** What is to be done with the answer to a request. */
export type OnAnswer = (answer: Envelope) => void;

type Asked = {
	readonly onAnswer: OnAnswer;
	/** The id of the client's request that this is done for, as text, if it is. */
	readonly within: string | undefined;
};

export type MemberLinkOptions = {
	/** The server's name, for people. */
	readonly server: string;
	/** The server says something that is no answer: a question, or news. */
	readonly onMessage: (envelope: Envelope) => void;
};

/** The hub's end of a conversation with one of its servers: asks under ids of its own, and hears the answers. */
export class MemberLink implements Endpoint {
	readonly name = 'hub';
	readonly incoming = new Subject<Envelope>();
	readonly outgoing: Observer<Envelope>;
	readonly gone: Promise<void>;
	readonly #options: MemberLinkOptions;
	readonly #asked = new Map<string, Asked>();
	#resolveGone: () => void = () => {};
	#ids = 0;
	#isOver = false;

	constructor(options: MemberLinkOptions) {
		this.#options = options;
		this.gone = new Promise(resolve => {
			this.#resolveGone = resolve;
		});
		this.outgoing = {
			next: envelope => this.#hear(envelope),
			error: () => this.#end(),
			complete: () => this.#end(),
		};
	}

	/** Passes a request on. Returns the id that the server knows it by. */
	send(request: Envelope, onAnswer: OnAnswer, within?: string): string {
		const id = String(++this.#ids);
		if (this.#isOver) {
			onAnswer(Envelope.failure(id, closed(this.#options.server), request.origin));
			return id;
		}
		this.#asked.set(id, {onAnswer, within});
		this.incoming.next(request.withId(id));
		return id;
	}

	/** Asks something of the hub's own, or in a client's name. Resolves with the answer, be it a result or an error. */
	async ask(method: string, params: JsonObject, options: AskOptions = {}): Promise<Body> {
		return (await this.askEnvelope(method, params, options)).body;
	}

	/** The same, with the answer as it came. */
	askEnvelope(method: string, params: JsonObject, {signal, within}: AskOptions = {}): Promise<Envelope> {
		return new Promise((resolve, reject) => {
			signal?.throwIfAborted();
			const request = Envelope.fromText(writeExact({jsonrpc: '2.0', id: 0, method, params}));
			const giveUp = (): void => {
				this.cancel(id, 'nobody waits for it any more');
				reject(signal?.reason);
			};
			const onAnswer = (answer: Envelope): void => {
				signal?.removeEventListener('abort', giveUp);
				resolve(answer);
			};
			const id = this.send(request, onAnswer, within);
			if (this.#asked.has(id)) signal?.addEventListener('abort', giveUp, {once: true});
		});
	}

	/** Says something that needs no answer, or is one. */
	tell(envelope: Envelope): void {
		if (!this.#isOver) this.incoming.next(envelope);
	}

	/** Nobody waits for the answer to this any more, and the server is told so. */
	cancel(id: string, reason: string): void {
		if (!this.#asked.delete(id)) return;
		const params = {requestId: Number(id), reason};
		this.tell(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
	}

	/** The request of the client that a message of the server came in the course of, where that is known or likely. */
	within({origin}: Envelope): string | undefined {
		const told = origin.within === undefined ? undefined : this.#asked.get(canonicalId(origin.within));
		return told?.within ?? [...this.#asked.values()].findLast(({within}) => within !== undefined)?.within;
	}

	async close(): Promise<void> {
		this.#end();
	}

	#hear(envelope: Envelope): void {
		if (this.#isOver) return;
		const {key, method} = envelope.head;
		if (method !== undefined) {
			this.#options.onMessage(envelope);
			return;
		}
		const asked = key === undefined ? undefined : this.#asked.get(key);
		if (key === undefined || !asked) return;
		this.#asked.delete(key);
		asked.onAnswer(envelope);
	}

	#end(): void {
		if (this.#isOver) return;
		this.#isOver = true;
		const asked = [...this.#asked];
		this.#asked.clear();
		for (const [id, {onAnswer}] of asked) onAnswer(Envelope.failure(id, closed(this.#options.server)));
		this.incoming.complete();
		this.#resolveGone();
	}
}

export type AskOptions = {
	/** Gives the request up, and tells the server so. */
	readonly signal?: AbortSignal | undefined;
	/** The id of the client's request that this is done for, as text. */
	readonly within?: string | undefined;
};

const closed = (server: string): BridgeError =>
	new BridgeError('ERR_SESSION_CLOSED', `The connection to ${server} was closed.`, 'Ask again.');
