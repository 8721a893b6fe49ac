import {BridgeError} from '../errors.js';
import type {Endpoint} from '../stage.js';
import {Inbox} from '../transports/inbox.js';
import type {Converse} from './conversation.js';

/**
 * Begins a conversation with the first message of its client: a connection alone starts no process. If the conversation
 * cannot begin then, the connection is closed.
 */
export const onFirstMessage =
	(converse: Converse, onBug: (error: unknown) => void): Converse =>
	(client, conversation) => {
		const inbox = new Inbox();
		const {name, outgoing, gone} = client;
		const begun: Endpoint = {name, outgoing, gone, incoming: inbox.messages, close: () => client.close()};
		let end: ReturnType<Converse> | undefined;
		const begin = (): void => {
			try {
				end = converse(begun, conversation);
			} catch (error) {
				end = async () => undefined;
				if (!(error instanceof BridgeError)) onBug(error);
				void client.close();
			}
		};
		const heard = client.incoming.subscribe({
			next: envelope => {
				if (!end) begin();
				inbox.next(envelope);
			},
			error: error => inbox.end(error),
			complete: () => inbox.end(),
		});
		return async () => {
			const status = await end?.();
			heard.unsubscribe();
			return status;
		};
	};
