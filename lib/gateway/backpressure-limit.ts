/** A client whose server may take no more at the moment. */
type BackpressuredClient = {readonly isBackpressured: boolean};

/** How much a client may say while its server takes no more, and how often. It all waits in memory. */
const MAX_BUFFERED_BYTES = 8 * 2 ** 20;
const MAX_BUFFERED_MESSAGES = 1024;

/** Counts what clients say by POST while their servers take no more: of such a client, nothing can be left unread. */
export class BackpressureLimit {
	readonly #buffered = new WeakMap<
		BackpressuredClient,
		{readonly bytes: number; readonly messages: number}
	>();

	/** Takes note of a message. Returns whether there is room for it. */
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
