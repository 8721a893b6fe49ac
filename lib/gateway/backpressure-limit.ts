type BackpressuredClient = {readonly isBackpressured: boolean};

/** Per-client limits on messages that are buffered in memory while the upstream applies backpressure. */
const MAX_BUFFERED_BYTES = 8 * 2 ** 20;
const MAX_BUFFERED_MESSAGES = 1024;

/**
 * Counts the messages that clients POST while their upstreams apply backpressure. Such a
 * client cannot be stopped by leaving its data unread, since each POST is a separate request.
 */
export class BackpressureLimit {
	readonly #buffered = new WeakMap<
		BackpressuredClient,
		{readonly bytes: number; readonly messages: number}
	>();

	/** Counts a message. Returns false if the client has reached a limit. */
	reserve(client: BackpressuredClient, size: number): boolean {
		if (!client.isBackpressured) {
			this.#buffered.delete(client);
			return true;
		}
		const {bytes, messages} = this.#buffered.get(client) ?? {bytes: 0, messages: 0};
		if (bytes >= MAX_BUFFERED_BYTES || messages >= MAX_BUFFERED_MESSAGES) return false;
		this.#buffered.set(client, {bytes: bytes + size, messages: messages + 1});
		return true;
	}
}
