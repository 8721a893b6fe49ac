import {chmod, lstat, unlink} from 'node:fs/promises';
import type {Server} from 'node:http';
import {connect} from 'node:net';
import process from 'node:process';
import {BridgeError} from '../core/errors.js';

export type SocketState = 'free' | 'stale' | 'in use' | 'not a socket';

/** Finds the state of a path. A socket that refuses connections was left by a process that has exited. */
export async function socketState(path: string): Promise<SocketState> {
	const found = await lstat(path).catch(() => undefined);
	if (!found) return 'free';
	if (!found.isSocket()) return 'not a socket';
	return new Promise(resolve => {
		const socket = connect(path);
		const finish = (state: SocketState): void => {
			socket.destroy();
			resolve(state);
		};
		socket.once('connect', () => finish('in use'));
		socket.once('error', ({code}: NodeJS.ErrnoException) =>
			finish(code === 'ECONNREFUSED' ? 'stale' : 'in use'),
		);
	});
}

/**
 * Makes a server listen on a Unix socket that only this user can connect to. Node removes the socket on
 * close.
 */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
	const state = await socketState(path);
	if (state === 'stale') await unlink(path).catch(() => {});
	if (state === 'in use')
		throw socketListenError(path, 'another program listens there', 'Stop that program, or');
	if (state === 'not a socket')
		throw socketListenError(path, 'there is a file that is not a socket', 'Remove it, or');
	await new Promise<void>((resolve, reject) => {
		const failed = ({message}: Error): void =>
			reject(socketListenError(path, message, 'Make sure that its folder exists and is writable, or'));
		server.once('error', failed);
		// No other user can connect before the mode is set.
		const mask = process.umask(0o177);
		try {
			server.listen(path, () => {
				server.off('error', failed);
				resolve();
			});
		} finally {
			process.umask(mask);
		}
	});
	await chmod(path, 0o600);
}

const socketListenError = (path: string, reason: string, remedy: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`Cannot listen on unix:${path}: ${reason}.`,
		`${remedy} name another address with listen: unix:/PATH or listen: ADDRESS:PORT.`,
	);
