import {type Body, Envelope} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';
import type {Endpoint} from '../core/stage.js';
import {type JsonObject, listOf, objectOf} from '../util/json.js';

const MAX_PAGES = 100;

/** A minimal JSON-RPC client for one endpoint. */
export class RpcClient {
	readonly #endpoint: Endpoint;
	readonly #timeoutMs: number;
	readonly #pending = new Map<string, (response: Body) => void>();
	#rejectAll: (error: unknown) => void = () => {};
	readonly #disconnected: Promise<never>;
	#lastId = 0;

	constructor(endpoint: Endpoint, timeoutMs: number) {
		this.#endpoint = endpoint;
		this.#timeoutMs = timeoutMs;
		this.#disconnected = new Promise((_resolve, reject) => {
			this.#rejectAll = reject;
		});
		this.#disconnected.catch(() => {});
		endpoint.incoming.subscribe({
			next: envelope => this.#receive(envelope),
			error: error => this.#rejectAll(error),
			complete: () => this.#rejectAll(closedError(endpoint.name)),
		});
	}

	/** Resolves with the response, whether it is a result or an error. */
	async request(method: string, params: JsonObject = {}): Promise<Body> {
		const id = ++this.#lastId;
		const response = new Promise<Body>(resolve => this.#pending.set(String(id), resolve));
		this.#endpoint.outgoing.next(Envelope.of({jsonrpc: '2.0', id, method, params}));
		let timer: NodeJS.Timeout | undefined;
		const timedOut = new Promise<never>((_resolve, reject) => {
			timer = setTimeout(
				() => reject(timeoutError(this.#endpoint.name, method, this.#timeoutMs)),
				this.#timeoutMs,
			);
		});
		try {
			return await Promise.race([response, this.#disconnected, timedOut]);
		} finally {
			clearTimeout(timer);
		}
	}

	notify(method: string): void {
		this.#endpoint.outgoing.next(Envelope.of({jsonrpc: '2.0', method}));
	}

	/** Returns the items of all pages of a list; none if the upstream does not have the list. */
	async listAll(method: string, member: string, params: JsonObject = {}): Promise<unknown[]> {
		const items: unknown[] = [];
		let cursor: unknown;
		for (let page = 0; page < MAX_PAGES; page++) {
			const {result} = await this.request(method, cursor === undefined ? params : {...params, cursor});
			for (const item of listOf(objectOf(result)[member])) items.push(item);
			cursor = objectOf(result).nextCursor;
			if (cursor === undefined) break;
		}
		return items;
	}

	#receive(envelope: Envelope): void {
		const {id, method, flaw} = envelope.head;
		if (flaw !== undefined || id === undefined) return;
		if (method === undefined) {
			this.#pending.get(id)?.(envelope.body);
			this.#pending.delete(id);
			return;
		}
		const error = {code: -32601, message: `Method not found: ${method}`};
		const response =
			method === 'ping' ? Envelope.response(id, 'result', {}) : Envelope.response(id, 'error', error);
		this.#endpoint.outgoing.next(response);
	}
}

const closedError = (name: string): BridgeError =>
	new BridgeError('ERR_SESSION_CLOSED', `${name} ended without a response.`, 'Start it by hand to see why.');

const timeoutError = (name: string, method: string, timeoutMs: number): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_TIMEOUT',
		`${name} did not respond to ${method} within ${timeoutMs / 1000} s.`,
		'Check what it is doing, or allow more time with --timeout SECONDS.',
	);
