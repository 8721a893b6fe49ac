import {type Body, Envelope} from './envelope.js';
import {BridgeError} from './errors.js';
import {type JsonObject, listOf, objectOf} from './protocol/json.js';
import type {Endpoint} from './stage.js';

/** How many pages of a list are read. */
const MAX_PAGES = 100;

/** Asks an endpoint one thing after the other, as a client that only wants to know. */
export class Asker {
	readonly #endpoint: Endpoint;
	readonly #timeoutMs: number;
	readonly #waiting = new Map<string, (answer: Body) => void>();
	#failAll: (error: unknown) => void = () => {};
	readonly #broken: Promise<never>;
	#ids = 0;

	constructor(endpoint: Endpoint, timeoutMs: number) {
		this.#endpoint = endpoint;
		this.#timeoutMs = timeoutMs;
		this.#broken = new Promise((_resolve, reject) => {
			this.#failAll = reject;
		});
		this.#broken.catch(() => {});
		endpoint.incoming.subscribe({
			next: envelope => this.#hear(envelope),
			error: error => this.#failAll(error),
			complete: () => this.#failAll(gone(endpoint.name)),
		});
	}

	/** The answer to a request, be it a result or an error. */
	async ask(method: string, params: JsonObject = {}): Promise<Body> {
		const id = ++this.#ids;
		const answer = new Promise<Body>(resolve => this.#waiting.set(String(id), resolve));
		this.#endpoint.outgoing.next(Envelope.of({jsonrpc: '2.0', id, method, params}));
		let timer: NodeJS.Timeout | undefined;
		const late = new Promise<never>((_resolve, reject) => {
			timer = setTimeout(
				() => reject(tooSlow(this.#endpoint.name, method, this.#timeoutMs)),
				this.#timeoutMs,
			);
		});
		try {
			return await Promise.race([answer, this.#broken, late]);
		} finally {
			clearTimeout(timer);
		}
	}

	tell(method: string): void {
		this.#endpoint.outgoing.next(Envelope.of({jsonrpc: '2.0', method}));
	}

	/** All that is in a list, page after page; nothing of one that the server does not have. */
	async list(method: string, member: string, params: JsonObject = {}): Promise<unknown[]> {
		const items: unknown[] = [];
		let cursor: unknown;
		for (let page = 0; page < MAX_PAGES; page++) {
			const {result} = await this.ask(method, cursor === undefined ? params : {...params, cursor});
			for (const item of listOf(objectOf(result)[member])) items.push(item);
			cursor = objectOf(result).nextCursor;
			if (cursor === undefined) break;
		}
		return items;
	}

	#hear(envelope: Envelope): void {
		const {id, method, flaw} = envelope.head;
		if (flaw !== undefined || id === undefined) return;
		if (method === undefined) {
			this.#waiting.get(id)?.(envelope.body);
			this.#waiting.delete(id);
			return;
		}
		const error = {code: -32601, message: `Method not found: ${method}`};
		const answer =
			method === 'ping' ? Envelope.answer(id, 'result', {}) : Envelope.answer(id, 'error', error);
		this.#endpoint.outgoing.next(answer);
	}
}

const gone = (name: string): BridgeError =>
	new BridgeError('ERR_SESSION_CLOSED', `${name} ended without an answer.`, 'Start it by hand to see why.');

const tooSlow = (name: string, method: string, timeoutMs: number): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_TIMEOUT',
		`${name} did not answer ${method} within ${timeoutMs / 1000} s.`,
		'See what it is doing, or allow more time with --timeout SECONDS.',
	);
