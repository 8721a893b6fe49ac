import {Envelope, type MessageOrigin} from '../../core/envelope.js';
import {SUBSCRIPTION_ID} from '../../protocol/v2026-07-28.js';
import {BoundedStringMap} from '../../util/bounded-string-map.js';
import {objectOf} from '../../util/json.js';
import {canonicalId} from '../../wire/id.js';
import {memberText} from '../../wire/member.js';

/** Notification streams of one client. The oldest is evicted for the next. */
const MAX_STREAMS = 1000;

export const TOOLS_LIST_CHANGED = 'notifications/tools/list_changed';

/** The streams on which a stateless client gets list_changed notifications. It gets them nowhere else. */
export class ListChangedStreams {
	/** Canonical ids of the streams that the client has opened. */
	readonly #opened = new BoundedStringMap<true>(MAX_STREAMS);
	/** Ids of the acknowledged streams as sent by the upstream, by canonical id. */
	readonly #ids = new BoundedStringMap<string>(MAX_STREAMS, undefined, id => id.length);

	opened(key: string): void {
		this.#opened.set(key, true);
	}

	/** Stores an acknowledged stream. Ignores streams that the client has not opened. */
	acknowledged({body, bytes}: Envelope): void {
		const {toolsListChanged} = objectOf(objectOf(body.params).notifications);
		if (toolsListChanged !== true || this.#opened.size === 0) return;
		const id = memberText(bytes, 'params', '_meta', SUBSCRIPTION_ID) ?? '';
		const key = canonicalId(id);
		if (this.#opened.has(key)) this.#ids.set(key, id);
	}

	/** Removes the stream with this key, if the request opened one. */
	ended(key: string): void {
		if (this.#opened.size > 0) this.#opened.delete(key);
		if (this.#ids.size > 0) this.#ids.delete(key);
	}

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
