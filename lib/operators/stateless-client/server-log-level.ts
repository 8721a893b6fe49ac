import {Envelope} from '../../core/envelope.js';
import type {StageOutputs} from '../../core/stage.js';
import type {Negotiation} from '../../protocol/negotiation.js';
import {requestMetaOf} from '../../protocol/v2026-07-28.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {type JsonObject, objectOf} from '../../util/json.js';

/** Pending logging/setLevel requests. The oldest is evicted for the next. */
const MAX_PENDING = 1000;

/** Sets the log level of a handshake upstream from the level in each request of a stateless client. */
export class ServerLogLevel {
	readonly #negotiation: Negotiation;
	readonly #out: StageOutputs;
	/** Keys of requests whose responses are dropped. */
	readonly #pending = new BoundedMap<string, true>(MAX_PENDING);
	#level: string | undefined;

	constructor(negotiation: Negotiation, out: StageOutputs) {
		this.#negotiation = negotiation;
		this.#out = out;
	}

	/** Sets the level of this request, if it differs from the current one. */
	request(params: JsonObject): void {
		const {logLevel: level} = requestMetaOf(params);
		const hasLogging = 'logging' in objectOf(this.#negotiation.initializeResult?.capabilities);
		if (!hasLogging || level === undefined || level === this.#level) return;
		this.#level = level;
		const id = this.#negotiation.nextRequestId();
		this.#pending.set(JSON.stringify(id), true);
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method: 'logging/setLevel', params: {level}}));
	}

	/** Returns whether a response belongs to logging/setLevel. */
	handleResponse(key: string): boolean {
		return this.#pending.take(key) === true;
	}
}
