import {BoundedMap} from '../bounded-map.js';
import {Envelope, type Origin} from '../envelope.js';
import {objectOf} from '../protocol/json.js';
import {SUBSCRIPTION_ID} from '../protocol/v2026-07-28.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';

/** Streams of notifications that a client may hold open at a time; the oldest is forgotten for the next. */
const MAX_STREAMS = 1000;

export const LIST_CHANGED = 'notifications/tools/list_changed';

/** The streams in which a modern client hears from a modern server that tools changed: it hears of it nowhere else. */
export class ToolsStreams {
	/** The ids of the requests that opened them, as text, by what is the same for all spellings. */
	readonly #ids = new BoundedMap<string, string>(MAX_STREAMS);

	/** The server tells what it will tell of in a stream. */
	acknowledged({body, bytes}: Envelope): void {
		const {toolsListChanged} = objectOf(objectOf(body.params).notifications);
		const id = memberText(bytes, 'params', '_meta', SUBSCRIPTION_ID);
		if (toolsListChanged === true && id !== undefined) this.#ids.set(canonicalId(id), id);
	}

	/** The request with this key is over, be it a stream or not. */
	ended(key: string): void {
		if (this.#ids.size > 0) this.#ids.delete(key);
	}

	/** What the client is to hear, once in each stream. */
	news(origin: Origin): Envelope[] {
		return [...this.#ids.values()].map(id => {
			const params = `{"_meta":{"${SUBSCRIPTION_ID}":${id}}}`;
			return Envelope.fromText(`{"jsonrpc":"2.0","method":"${LIST_CHANGED}","params":${params}}`, origin);
		});
	}
}
