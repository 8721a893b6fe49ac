import {Envelope, type MessageOrigin} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import type {StageOutputs} from '../../core/stage.js';
import {type JsonObject, objectOf} from '../../util/json.js';
import {rpcErrorText} from './local-responses.js';

type AppResultHandler = (result: JsonObject, origin: MessageOrigin) => void;
type AppErrorHandler = (reason: string) => void;

/** Limit on pending requests to `codex app-server`. */
const MAX_PENDING = 10_000;

/** A client of `codex app-server` that sends requests under its own ids. */
export class AppServerClient {
	readonly #out: StageOutputs;
	readonly #pending = new Map<
		string,
		{readonly onResult: AppResultHandler; readonly onError: AppErrorHandler}
	>();
	#lastId = 0;

	constructor(out: StageOutputs) {
		this.#out = out;
	}

	request(method: string, params: JsonObject, onResult: AppResultHandler, onError: AppErrorHandler): void {
		if (this.#pending.size >= MAX_PENDING) throw tooManyPending();
		const id = ++this.#lastId;
		this.#pending.set(String(id), {onResult, onError});
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method, params}));
	}

	notify(method: string): void {
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', method}));
	}

	handleResponse({head: {key = ''}, body, origin}: Envelope): void {
		const pending = this.#pending.get(key);
		this.#pending.delete(key);
		if (body.error === undefined) pending?.onResult(objectOf(body.result), origin);
		else pending?.onError(rpcErrorText(body.error));
	}
}

const tooManyPending = (): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`${MAX_PENDING} requests to Codex are pending, which is the limit.`,
		'Wait until some of them complete, then try again.',
		{limit: MAX_PENDING},
	);
