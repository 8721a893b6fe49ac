import {Envelope} from '../../core/envelope.js';
import type {StageOutputs} from '../../core/stage.js';
import type {Negotiation} from '../../protocol/negotiation.js';
import {requestMetaOf} from '../../protocol/v2026-07-28.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {type JsonObject, objectOf} from '../../util/json.js';

/** Changes of the level that may be under way at a time; the answer to one that is forgotten goes to nobody. */
const MAX_PENDING = 1000;

/** The one level of a handshake server's log messages, for a client that says with each request which it wants. */
export class ServerLogLevel {
	readonly #negotiation: Negotiation;
	readonly #out: StageOutputs;
	/** Keys of the requests whose answers are for nobody. */
	readonly #pending = new BoundedMap<string, true>(MAX_PENDING);
	#level: string | undefined;

	constructor(negotiation: Negotiation, out: StageOutputs) {
		this.#negotiation = negotiation;
		this.#out = out;
	}

	/** Sets the server to what a request wants, where that is something else. */
	request(params: JsonObject): void {
		const {logLevel: level} = requestMetaOf(params);
		const hasLogging = 'logging' in objectOf(this.#negotiation.initializeResult?.capabilities);
		if (!hasLogging || level === undefined || level === this.#level) return;
		this.#level = level;
		const id = this.#negotiation.nextRequestId();
		this.#pending.set(JSON.stringify(id), true);
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method: 'logging/setLevel', params: {level}}));
	}

	/** Whether an answer is one to that. */
	handleResponse(key: string): boolean {
		return this.#pending.take(key) === true;
	}
}
