import {Envelope, type MessageOrigin} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import type {StageOutputs} from '../../core/stage.js';
import {type JsonObject, objectOf} from '../../util/json.js';
import {rpcErrorText} from './local-responses.js';

/** What becomes of an answer: the result, or what is wrong. */
type AppResultHandler = (result: JsonObject, origin: MessageOrigin) => void;
type AppErrorHandler = (reason: string) => void;

/** Requests to `codex app-server` without an answer. */
const MAX_PENDING = 10_000;

/** Asks `codex app-server` in its own protocol, under ids of its own. */
export class AppServerClient {
	readonly #out: StageOutputs;
	readonly #pending = new Map<string, {readonly take: AppResultHandler; readonly refused: AppErrorHandler}>();
	#lastId = 0;

	constructor(out: StageOutputs) {
		this.#out = out;
	}

	request(method: string, params: JsonObject, onResult: AppResultHandler, onError: AppErrorHandler): void {
		if (this.#pending.size >= MAX_PENDING) throw tooManyPending();
		const id = ++this.#lastId;
		this.#pending.set(String(id), {take: onResult, refused: onError});
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method, params}));
	}

	notify(method: string): void {
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', method}));
	}

	/** Codex has answered something. */
	handleResponse({head: {key = ''}, body, origin}: Envelope): void {
		const pending = this.#pending.get(key);
		this.#pending.delete(key);
		if (body.error === undefined) pending?.take(objectOf(body.result), origin);
		else pending?.refused(rpcErrorText(body.error));
	}
}

const tooManyPending = (): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`Codex has not answered ${MAX_PENDING} requests yet.`,
		'Wait for some of them before you send more.',
		{limit: MAX_PENDING},
	);
