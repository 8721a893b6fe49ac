import type {IncomingMessage, RequestListener} from 'node:http';
import type {Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import {closeWithConnection} from './close-with-connection.js';
import {internalError, rejectUpgrade, sendHttpError} from './http-error.js';
import type {AdmitRequest} from './same-user.js';

/** Handles a request to change the protocol of a connection. */
export type UpgradeListener = (req: IncomingMessage, socket: Duplex, head: Buffer) => void;

type HandlerOptions = {
	readonly admit?: AdmitRequest | undefined;
	/** Receives what a handler threw, also later. */
	readonly onBug: (error: unknown) => void;
};

const admitAll: AdmitRequest = () => undefined;

/** A handler of requests that are admitted. Its errors end the request with 500 and not the program. */
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
		const failed = (error: unknown): void => {
			onBug(error);
			sendHttpError(res, internalError);
		};
		try {
			const done: unknown = admitted(req, res);
			if (done instanceof Promise) done.catch(failed);
		} catch (error) {
			failed(error);
		}
	};
}

/**
 * Reads nothing more from a connection until this is released. Node would close it as soon as it has read that the client
 * sends no more, and the response would be lost. It resumes reading when a request is complete, so this waits for that;
 * the end of a client's data is read in a later turn of the event loop.
 */
function pauseReading(socket: Socket): () => void {
	const pausing = setImmediate(() => socket.pause());
	return () => {
		clearImmediate(pausing);
		socket.resume();
	};
}

/** The same for requests to change the protocol. */
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
		// Node has removed its own listener by now.
		socket.on('error', () => {});
		admitted(req, socket, head).catch(error => {
			onBug(error);
			socket.destroy();
		});
	};
}
