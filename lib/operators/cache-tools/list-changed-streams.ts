import {Envelope, type MessageOrigin} from '../../core/envelope.js';
import {SUBSCRIPTION_ID} from '../../protocol/v2026-07-28.js';
import {BoundedStringMap} from '../../util/bounded-string-map.js';
import {objectOf} from '../../util/json.js';
import {canonicalId} from '../../wire/id.js';
import {memberText} from '../../wire/member.js';

/** Streams of notifications that a client may hold open at a time; the oldest is forgotten for the next. */
const MAX_STREAMS = 1000;

export const TOOLS_LIST_CHANGED = 'notifications/tools/list_changed';

/** The streams in which a modern client hears from a modern server that tools changed: it hears of it nowhere else. */
export class ListChangedStreams {
	/** The requests that the client has opened, by what is the same for all spellings of their ids. */
	readonly #opened = new BoundedStringMap<true>(MAX_STREAMS);
	/** The ids of those that the server has acknowledged, as text, by the same keys. */
	readonly #ids = new BoundedStringMap<string>(MAX_STREAMS, undefined, id => id.length);

	/** The client opens a stream. */
	opened(key: string): void {
		this.#opened.set(key, true);
	}

	/** The server acknowledges the notifications of a stream. A stream that the client has not opened is not kept. */
	acknowledged({body, bytes}: Envelope): void {
		const {toolsListChanged} = objectOf(objectOf(body.params).notifications);
		if (toolsListChanged !== true || this.#opened.size === 0) return;
		const id = memberText(bytes, 'params', '_meta', SUBSCRIPTION_ID) ?? '';
		const key = canonicalId(id);
		if (this.#opened.has(key)) this.#ids.set(key, id);
	}

	/** The request with this key is over, be it a stream or not. */
	ended(key: string): void {
		if (this.#opened.size > 0) this.#opened.delete(key);
		if (this.#ids.size > 0) this.#ids.delete(key);
	}

	/** What the client is to hear, once in each stream. */
	notifications(origin: MessageOrigin): Envelope[] {
		return [...this.#ids.values()].map(id => {
			const params = `{"_meta":{"${SUBSCRIPTION_ID}":${id}}}`;
			return Envelope.fromText(
				`{"jsonrpc":"2.0","method":"${TOOLS_LIST_CHANGED}","params":${params}}`,
				origin,
			);
		});
	}
}
