import {type Observer, Subject} from 'rxjs';
import {type Body, Envelope} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';
import type {Endpoint} from '../core/stage.js';
import type {JsonObject} from '../util/json.js';
import {stringifyWithBigInts} from '../wire/bigint-json.js';
import {canonicalId} from '../wire/id.js';

/** What is to be done with the answer to a request. */
type UpstreamResponseHandler = (answer: Envelope) => void;

type PendingUpstreamRequest = {
	readonly onResponse: UpstreamResponseHandler;
	/** The id of the client's request that this is done for, as text, if it is. */
	readonly relatedRequestId: string | undefined;
};

type UpstreamRpcClientOptions = {
	/** The server's name, for people. */
	readonly server: string;
	/** The server says something that is no answer: a question, or news. */
	readonly onMessage: (envelope: Envelope) => void;
};

/** The hub's end of a conversation with one of its servers: asks under ids of its own, and hears the answers. */
export class UpstreamRpcClient implements Endpoint {
	readonly name = 'hub';
	readonly incoming = new Subject<Envelope>();
	readonly outgoing: Observer<Envelope>;
	readonly disconnected: Promise<void>;
	readonly #options: UpstreamRpcClientOptions;
	readonly #pending = new Map<string, PendingUpstreamRequest>();
	#resolveDisconnected: () => void = () => {};
	#lastId = 0;
	#isClosed = false;

	constructor(options: UpstreamRpcClientOptions) {
		this.#options = options;
		this.disconnected = new Promise(resolve => {
			this.#resolveDisconnected = resolve;
		});
		this.outgoing = {
			next: envelope => this.#receive(envelope),
			error: () => this.#close(),
			complete: () => this.#close(),
		};
	}

	/** Passes a request on. Returns the id that the server knows it by. */
	sendRequest(request: Envelope, onResponse: UpstreamResponseHandler, relatedRequestId?: string): string {
		const id = String(++this.#lastId);
		if (this.#isClosed) {
			onResponse(Envelope.errorResponse(id, connectionClosed(this.#options.server), request.origin));
			return id;
		}
		this.#pending.set(id, {onResponse, relatedRequestId});
		this.incoming.next(request.withId(id));
		return id;
	}

	/** Asks something of the hub's own, or in a client's name. Resolves with the answer, be it a result or an error. */
	async request(method: string, params: JsonObject, options: UpstreamRequestOptions = {}): Promise<Body> {
		return (await this.requestEnvelope(method, params, options)).body;
	}

	/** The same, with the answer as it came. */
	requestEnvelope(
		method: string,
		params: JsonObject,
		{signal, relatedRequestId}: UpstreamRequestOptions = {},
	): Promise<Envelope> {
		return new Promise((resolve, reject) => {
			signal?.throwIfAborted();
			const request = Envelope.fromText(stringifyWithBigInts({jsonrpc: '2.0', id: 0, method, params}));
			const onAbort = (): void => {
				this.cancel(id, 'nobody waits for it any more');
				reject(signal?.reason);
			};
			const onResponse = (response: Envelope): void => {
				signal?.removeEventListener('abort', onAbort);
				resolve(response);
			};
			const id = this.sendRequest(request, onResponse, relatedRequestId);
			if (this.#pending.has(id)) signal?.addEventListener('abort', onAbort, {once: true});
		});
	}

	/** Says something that needs no answer, or is one. */
	sendMessage(envelope: Envelope): void {
		if (!this.#isClosed) this.incoming.next(envelope);
	}

	/** Nobody waits for the answer to this any more, and the server is told so. */
	cancel(id: string, reason: string): void {
		if (!this.#pending.delete(id)) return;
		const params = {requestId: Number(id), reason};
		this.sendMessage(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
	}

	/** The request of the client that a message of the server came in the course of, where that is known or likely. */
	relatedRequestId({origin}: Envelope): string | undefined {
		const pending =
			origin.relatedRequestId === undefined
				? undefined
				: this.#pending.get(canonicalId(origin.relatedRequestId));
		return (
			pending?.relatedRequestId ??
			[...this.#pending.values()].findLast(({relatedRequestId}) => relatedRequestId !== undefined)
				?.relatedRequestId
		);
	}

	async close(): Promise<void> {
		this.#close();
	}

	#receive(envelope: Envelope): void {
		if (this.#isClosed) return;
		const {key, method} = envelope.head;
		if (method !== undefined) {
			this.#options.onMessage(envelope);
			return;
		}
		const pending = key === undefined ? undefined : this.#pending.get(key);
		if (key === undefined || !pending) return;
		this.#pending.delete(key);
		pending.onResponse(envelope);
	}

	#close(): void {
		if (this.#isClosed) return;
		this.#isClosed = true;
		const pending = [...this.#pending];
		this.#pending.clear();
		for (const [id, {onResponse}] of pending)
			onResponse(Envelope.errorResponse(id, connectionClosed(this.#options.server)));
		this.incoming.complete();
		this.#resolveDisconnected();
	}
}

type UpstreamRequestOptions = {
	/** Gives the request up, and tells the server so. */
	readonly signal?: AbortSignal | undefined;
	/** The id of the client's request that this is done for, as text. */
	readonly relatedRequestId?: string | undefined;
};

const connectionClosed = (server: string): BridgeError =>
	new BridgeError('ERR_SESSION_CLOSED', `The connection to ${server} was closed.`, 'Ask again.');
