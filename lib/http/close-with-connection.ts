import type {IncomingMessage, ServerResponse} from 'node:http';
import type {Socket} from 'node:net';

const closeCallbacks = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls back when a connection closes, until the returned function is called. One listener does for all requests of a
 * connection that stays open.
 */
function onSocketClose(socket: Socket, callback: () => void): () => void {
	const existing = closeCallbacks.get(socket);
	const callbacks = existing ?? new Set();
	if (!existing) {
		closeCallbacks.set(socket, callbacks);
		socket.once('close', () => {
			for (const each of callbacks) each();
		});
	}
	callbacks.add(callback);
	return () => void callbacks.delete(callback);
}

/**
 * Has a response close with its connection. Node does not do that for one that waits behind another response of a client
 * that sends its requests without waiting: until its turn, it has no connection.
 */
export function closeWithConnection({socket}: IncomingMessage, res: ServerResponse): void {
	if (res.socket) return;
	const unsubscribe = onSocketClose(socket, () => {
		if (res.socket || res.destroyed) return;
		res.destroy();
		res.emit('close');
	});
	res.once('close', unsubscribe);
}
