import {Envelope, type Origin} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {type JsonObject, objectOf} from '../protocol/json.js';
import type {Outlets} from '../stage.js';
import {errorText} from './requests.js';

/** What becomes of an answer: the result, or what is wrong. */
export type Take = (result: JsonObject, origin: Origin) => void;
export type Refused = (reason: string) => void;

/** Requests to `codex app-server` without an answer. */
const MAX_ASKED = 10_000;

/** Asks `codex app-server` in its own protocol, under ids of its own. */
export class AppAsker {
	readonly #out: Outlets;
	readonly #asked = new Map<string, {readonly take: Take; readonly refused: Refused}>();
	#lastId = 0;

	constructor(out: Outlets) {
		this.#out = out;
	}

	ask(method: string, params: JsonObject, take: Take, refused: Refused): void {
		if (this.#asked.size >= MAX_ASKED) throw tooMany();
		const id = ++this.#lastId;
		this.#asked.set(String(id), {take, refused});
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method, params}));
	}

	tell(method: string): void {
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', method}));
	}

	/** Codex has answered something. */
	answered({head: {key = ''}, body, origin}: Envelope): void {
		const asked = this.#asked.get(key);
		this.#asked.delete(key);
		if (body.error === undefined) asked?.take(objectOf(body.result), origin);
		else asked?.refused(errorText(body.error));
	}
}

const tooMany = (): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`Codex has not answered ${MAX_ASKED} requests yet.`,
		'Wait for some of them before you send more.',
		{limit: MAX_ASKED},
	);
