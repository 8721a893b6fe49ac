import {type Observer, Subject} from 'rxjs';
import {type Body, Envelope} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';
import type {Endpoint} from '../core/stage.js';
import type {JsonObject} from '../util/json.js';
import {stringifyWithBigInts} from '../wire/bigint-json.js';
import {canonicalId} from '../wire/id.js';

type UpstreamResponseHandler = (response: Envelope) => void;

type PendingUpstreamRequest = {
	readonly onResponse: UpstreamResponseHandler;
	/** The id of the client's request that caused this request, as text. */
	readonly relatedRequestId: string | undefined;
};

type UpstreamRpcClientOptions = {
	readonly server: string;
	readonly onMessage: (envelope: Envelope) => void;
};

/** The hub's end of a conversation with an upstream. Requests are sent under ids of the hub. */
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

	/** Forwards a request. Returns its id at the upstream. */
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

	/** Sends a request of the hub or of a client. Resolves to the response, which is a result or an error. */
	async request(method: string, params: JsonObject, options: UpstreamRequestOptions = {}): Promise<Body> {
		return (await this.requestEnvelope(method, params, options)).body;
	}

	/** Resolves to the response as it was received. */
	requestEnvelope(
		method: string,
		params: JsonObject,
		{signal, relatedRequestId}: UpstreamRequestOptions = {},
	): Promise<Envelope> {
		return new Promise((resolve, reject) => {
			signal?.throwIfAborted();
			const request = Envelope.fromText(stringifyWithBigInts({jsonrpc: '2.0', id: 0, method, params}));
			const onAbort = (): void => {
				this.cancel(id, 'the response is no longer needed');
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

	sendMessage(envelope: Envelope): void {
		if (!this.#isClosed) this.incoming.next(envelope);
	}

	/** Abandons a request, and sends a cancellation to the upstream. */
	cancel(id: string, reason: string): void {
		if (!this.#pending.delete(id)) return;
		const params = {requestId: Number(id), reason};
		this.sendMessage(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
	}

	/** Returns the client's request that a message of the upstream most likely belongs to. */
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
	readonly signal?: AbortSignal | undefined;
	/** The id of the client's request that caused this request, as text. */
	readonly relatedRequestId?: string | undefined;
};

const connectionClosed = (server: string): BridgeError =>
	new BridgeError('ERR_SESSION_CLOSED', `The connection to ${server} was closed.`, 'Send the request again.');
