/** A client whose server may take no more at the moment. */
export type Holdable = {readonly isHeldBack: boolean};

/** How much a client may say while its server takes no more, and how often. It all waits in memory. */
const MAX_BYTES = 8 * 2 ** 20;
const MAX_MESSAGES = 1024;

/** Counts what clients say by POST while their servers take no more: of such a client, nothing can be left unread. */
export class HeldBack {
	readonly #said = new WeakMap<Holdable, {readonly bytes: number; readonly messages: number}>();

	/** Takes note of a message. Returns whether there is room for it. */
	take(client: Holdable, size: number): boolean {
		if (!client.isHeldBack) {
			this.#said.delete(client);
			return true;
		}
		const {bytes, messages} = this.#said.get(client) ?? {bytes: 0, messages: 0};
		if (bytes >= MAX_BYTES || messages >= MAX_MESSAGES) return false;
		this.#said.set(client, {bytes: bytes + size, messages: messages + 1});
		return true;
	}
}
