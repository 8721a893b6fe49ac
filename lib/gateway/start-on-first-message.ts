import {BridgeError} from '../core/errors.js';
import {IncomingBuffer} from '../core/incoming-buffer.js';
import type {Endpoint} from '../core/stage.js';
import type {StartConversation} from '../upstream/conversation.js';

/**
 * Starts a conversation with the first message of its client: a connection alone starts no process. If the
 * conversation cannot start, the connection is closed.
 */
export const startOnFirstMessage =
	(startConversation: StartConversation, onBug: (error: unknown) => void): StartConversation =>
	(client, conversation) => {
		const inbox = new IncomingBuffer();
		const {name, outgoing, disconnected} = client;
		const endpoint: Endpoint = {
			name,
			outgoing,
			disconnected,
			incoming: inbox.messages,
			close: () => client.close(),
		};
		let end: ReturnType<StartConversation> | undefined;
		const start = (): void => {
			try {
				end = startConversation(endpoint, conversation);
			} catch (error) {
				end = async () => undefined;
				if (!(error instanceof BridgeError)) onBug(error);
				void client.close();
			}
		};
		const subscription = client.incoming.subscribe({
			next: envelope => {
				if (!end) start();
				inbox.next(envelope);
			},
			error: error => inbox.end(error),
			complete: () => inbox.end(),
		});
		return async () => {
			const status = await end?.();
			subscription.unsubscribe();
			return status;
		};
	};
