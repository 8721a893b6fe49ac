import type {Envelope} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {canonicalId} from '../../wire/id.js';

const MAX_MESSAGES = 1000;
const MAX_BYTES = 8 * 2 ** 20;

type QueuedMessage<Client> = {readonly client: Client; readonly envelope: Envelope};

/** What all clients have said while there was no server to hear it, in the order in which it came. */
export class ClientMessageQueue<Client> {
	#messages: QueuedMessage<Client>[] = [];
	#bytes = 0;

	/** Refuses what would be too much: the clients share this, so none of them can be made to wait for room. */
	add(client: Client, envelope: Envelope): void {
		const bytes = this.#bytes + envelope.size;
		if (this.#messages.length >= MAX_MESSAGES || bytes > MAX_BYTES) throw queueFullError();
		this.#bytes = bytes;
		this.#messages.push({client, envelope});
	}

	has(client: Client): boolean {
		return this.#messages.some(one => one.client === client);
	}

	/** The client does not want the answer to one of its requests any more. */
	cancel(client: Client, id: string): void {
		const key = canonicalId(id);
		this.#remove(one => one.client === client && one.envelope.head.key === key);
	}

	removeClient(client: Client): void {
		this.#remove(one => one.client === client);
	}

	takeAll(): readonly QueuedMessage<Client>[] {
		const all = this.#messages;
		this.#messages = [];
		this.#bytes = 0;
		return all;
	}

	#remove(isMatch: (message: QueuedMessage<Client>) => boolean): void {
		this.#messages = this.#messages.filter(one => !isMatch(one));
		this.#bytes = this.#messages.reduce((sum, {envelope}) => sum + envelope.size, 0);
	}
}

const queueFullError = (): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`${MAX_MESSAGES} messages or ${MAX_BYTES} bytes wait for the server to start already.`,
		'Try again when it has started.',
		{messages: MAX_MESSAGES, bytes: MAX_BYTES},
	);
