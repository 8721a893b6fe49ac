import type {IncomingMessage, ServerResponse} from 'node:http';
import type {Socket} from 'node:net';

const watched = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls back when a connection closes, until the returned function is called. One listener does for all requests of a
 * connection that stays open.
 */
function whenClosed(socket: Socket, proceed: () => void): () => void {
	const known = watched.get(socket);
	const all = known ?? new Set();
	if (!known) {
		watched.set(socket, all);
		socket.once('close', () => {
			for (const each of all) each();
		});
	}
	all.add(proceed);
	return () => void all.delete(proceed);
}

/**
 * Has a response close with its connection. Node does not do that for one that waits behind another response of a client
 * that sends its requests without waiting: until its turn, it has no connection.
 */
export function closeWithConnection({socket}: IncomingMessage, res: ServerResponse): void {
	if (res.socket) return;
	const unwatch = whenClosed(socket, () => {
		if (res.socket || res.destroyed) return;
		res.destroy();
		res.emit('close');
	});
	res.once('close', unwatch);
}
