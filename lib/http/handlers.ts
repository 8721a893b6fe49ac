import type {IncomingMessage, RequestListener} from 'node:http';
import type {Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import type {Admit} from './peer.js';
import {internalError, notUpgraded, refuse} from './refuse.js';
import {closeWithConnection} from './when-closed.js';

/** Handles a request to change the protocol of a connection. */
export type Upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer) => void;

type Options = {
	readonly admit?: Admit | undefined;
	/** Receives what a handler threw, also later. */
	readonly onBug: (error: unknown) => void;
};

const all: Admit = () => undefined;

/** A handler of requests that are admitted. Its errors end the request with 500 and not the program. */
export function caught(handle: RequestListener, {admit = all, onBug}: Options): RequestListener {
	const admitted: RequestListener = (req, res) => {
		const refused = admit(req);
		if (refused === undefined) return handle(req, res);
		if (!(refused instanceof Promise)) return refuse(res, refused);
		const release = hold(req.socket);
		return refused.then(why => {
			release();
			if (why) return refuse(res, why);
			return req.socket.destroyed ? undefined : handle(req, res);
		});
	};
	return (req, res) => {
		closeWithConnection(req, res);
		const failed = (error: unknown): void => {
			onBug(error);
			refuse(res, internalError);
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
function hold(socket: Socket): () => void {
	const pausing = setImmediate(() => socket.pause());
	return () => {
		clearImmediate(pausing);
		socket.resume();
	};
}

/** The same for requests to change the protocol. */
export function caughtUpgrade(upgrade: Upgrade, {admit = all, onBug}: Options): Upgrade {
	const admitted = async (...[req, socket, head]: Parameters<Upgrade>): Promise<void> => {
		const why = await Promise.resolve(admit(req));
		if (why) notUpgraded(socket, why);
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
