import type {Envelope} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {canonicalId} from '../../wire/id.js';

const MAX_MESSAGES = 1000;
const MAX_BYTES = 8 * 2 ** 20;

type QueuedMessage<Client> = {readonly client: Client; readonly envelope: Envelope};

/** Messages of all clients that wait for the upstream to start, in the order of arrival. */
export class ClientMessageQueue<Client> {
	#messages: QueuedMessage<Client>[] = [];
	#bytes = 0;

	/** Rejects messages over the limit. The queue is shared, so backpressure would block all clients. */
	add(client: Client, envelope: Envelope): void {
		const bytes = this.#bytes + envelope.size;
		if (this.#messages.length >= MAX_MESSAGES || bytes > MAX_BYTES) throw queueFullError();
		this.#bytes = bytes;
		this.#messages.push({client, envelope});
	}

	has(client: Client): boolean {
		return this.#messages.some(message => message.client === client);
	}

	cancel(client: Client, id: string): void {
		const key = canonicalId(id);
		this.#remove(message => message.client === client && message.envelope.head.key === key);
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
		this.#messages = this.#messages.filter(message => !isMatch(message));
		this.#bytes = this.#messages.reduce((sum, {envelope}) => sum + envelope.size, 0);
	}
}

const queueFullError = (): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`${MAX_MESSAGES} messages or ${MAX_BYTES} bytes are already queued until the server has started.`,
		'Retry when it has started.',
		{messages: MAX_MESSAGES, bytes: MAX_BYTES},
	);
