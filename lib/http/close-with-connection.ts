import type {IncomingMessage, ServerResponse} from 'node:http';
import type {Socket} from 'node:net';

const closeCallbacks = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls back when a connection closes, until the returned function is called. One listener serves all
 * requests of a persistent connection.
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
 * Closes a response together with its connection. Node does not do that for a pipelined response that waits
 * for its turn, since it has no socket yet.
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
