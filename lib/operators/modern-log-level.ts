import {BoundedMap} from '../bounded-map.js';
import {Envelope} from '../envelope.js';
import {type JsonObject, objectOf} from '../protocol/json.js';
import type {Session} from '../protocol/session.js';
import {callerOf} from '../protocol/v2026-07-28.js';
import type {Outlets} from '../stage.js';

/** Changes of the level that may be under way at a time; the answer to one that is forgotten goes to nobody. */
const MAX_UNDER_WAY = 1000;

/** The one level of a handshake server's log messages, for a client that says with each request which it wants. */
export class ServerLogLevel {
	readonly #session: Session;
	readonly #out: Outlets;
	/** Keys of the requests whose answers are for nobody. */
	readonly #asked = new BoundedMap<string, true>(MAX_UNDER_WAY);
	#level: string | undefined;

	constructor(session: Session, out: Outlets) {
		this.#session = session;
		this.#out = out;
	}

	/** Sets the server to what a request wants, where that is something else. */
	want(params: JsonObject): void {
		const {logLevel: level} = callerOf(params);
		const hasLogging = 'logging' in objectOf(this.#session.initializeResult?.capabilities);
		if (!hasLogging || level === undefined || level === this.#level) return;
		this.#level = level;
		const id = this.#session.ownId();
		this.#asked.set(JSON.stringify(id), true);
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method: 'logging/setLevel', params: {level}}));
	}

	/** Whether an answer is one to that. */
	answered(key: string): boolean {
		return this.#asked.take(key) === true;
	}
}
