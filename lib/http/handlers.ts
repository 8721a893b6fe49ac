import type {IncomingMessage, RequestListener} from 'node:http';
import type {Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import {closeWithConnection} from './close-with-connection.js';
import {internalError, rejectUpgrade, sendHttpError} from './http-error.js';
import type {AdmitRequest} from './same-user.js';

export type UpgradeListener = (req: IncomingMessage, socket: Duplex, head: Buffer) => void;

type HandlerOptions = {
	readonly admit?: AdmitRequest | undefined;
	/** Receives errors that a handler throws, synchronously or later. */
	readonly onBug: (error: unknown) => void;
};

const admitAll: AdmitRequest = () => undefined;

/**
 * Wraps a handler so that it gets admitted requests only. Its errors end the request with 500, and not the
 * process.
 */
export function catchHandlerErrors(
	handle: RequestListener,
	{admit = admitAll, onBug}: HandlerOptions,
): RequestListener {
	const admitted: RequestListener = (req, res) => {
		const rejection = admit(req);
		if (rejection === undefined) return handle(req, res);
		if (!(rejection instanceof Promise)) return sendHttpError(res, rejection);
		const release = pauseReading(req.socket);
		return rejection.then(error => {
			release();
			if (error) return sendHttpError(res, error);
			return req.socket.destroyed ? undefined : handle(req, res);
		});
	};
	return (req, res) => {
		closeWithConnection(req, res);
		const fail = (error: unknown): void => {
			onBug(error);
			sendHttpError(res, internalError);
		};
		try {
			const done: unknown = admitted(req, res);
			if (done instanceof Promise) done.catch(fail);
		} catch (error) {
			fail(error);
		}
	};
}

/**
 * Stops reading from a connection until the returned function is called. When the client has ended its side,
 * Node would close the connection, and the response would be lost. Node resumes reading when a request is
 * complete, so the pause begins after that. The end of a client's data is read in a later turn of the event
 * loop.
 */
function pauseReading(socket: Socket): () => void {
	const pausing = setImmediate(() => socket.pause());
	return () => {
		clearImmediate(pausing);
		socket.resume();
	};
}

/** Like `catchHandlerErrors`, for upgrade requests. */
export function catchUpgradeErrors(
	upgrade: UpgradeListener,
	{admit = admitAll, onBug}: HandlerOptions,
): UpgradeListener {
	const admitted = async (...[req, socket, head]: Parameters<UpgradeListener>): Promise<void> => {
		const rejection = await Promise.resolve(admit(req));
		if (rejection) rejectUpgrade(socket, rejection);
		else if (!socket.destroyed) upgrade(req, socket, head);
	};
	return (req, socket, head) => {
		// Node has removed its own listener before this.
		socket.on('error', () => {});
		admitted(req, socket, head).catch(error => {
			onBug(error);
			socket.destroy();
		});
	};
}
