import {once} from 'node:events';
import {connect, createServer, type Server, type Socket} from 'node:net';
import type {ExecutionContext} from 'ava';

/** A TCP server of a test and its accepted connections. */
export class Peer {
	readonly server: Server;
	readonly sockets: Socket[] = [];
	readonly #waiting = new Set<() => void>();

	constructor(onSocket: (socket: Socket) => void, isPaused = false) {
		this.server = createServer({allowHalfOpen: true, pauseOnConnect: isPaused}, socket => {
			// Tests check errors themselves, see ending().
			socket.on('error', () => {});
			this.sockets.push(socket);
			onSocket(socket);
			for (const wake of [...this.#waiting]) wake();
		});
	}

	async listen(host = '127.0.0.1', port = 0): Promise<this> {
		this.server.listen(port, host);
		await once(this.server, 'listening');
		return this;
	}

	get port(): number {
		const address = this.server.address();
		return address !== null && typeof address === 'object' ? address.port : 0;
	}

	/** Waits for the connection with this index. */
	async socket(index = 0): Promise<Socket> {
		for (;;) {
			const socket = this.sockets[index];
			if (socket) return socket;
			await new Promise<void>(resolve => {
				this.#waiting.add(resolve);
			});
		}
	}

	close(): void {
		this.server.close();
		for (const socket of this.sockets) socket.destroy();
	}
}

/** Starts a server that calls `onSocket` for each connection, and closes it after the test. */
export async function startPeer(
	t: ExecutionContext,
	onSocket: (socket: Socket) => void = () => {},
	options: {readonly host?: string; readonly port?: number; readonly isPaused?: boolean} = {},
): Promise<Peer> {
	const peer = await new Peer(onSocket, options.isPaused).listen(options.host, options.port);
	t.teardown(() => peer.close());
	return peer;
}

/** Starts an echo server. */
export const startEcho = (host?: string): Promise<Peer> =>
	new Peer(socket => socket.pipe(socket)).listen(host);

/** Opens a connection that stays writable after the peer has ended its side. */
export async function dial(port: number, host = '127.0.0.1'): Promise<Socket> {
	const socket = connect({port, host, allowHalfOpen: true});
	await once(socket, 'connect');
	socket.on('error', () => {});
	return socket;
}

/** The local address of a socket in the format of the log. */
export const ownAddress = ({localAddress, localPort}: Socket): string => `${localAddress}:${localPort}`;

/** Reads until the peer ends its side. */
export function readAll(socket: Socket): Promise<Buffer> {
	const chunks: Buffer[] = [];
	return new Promise((resolve, reject) => {
		socket.on('data', chunk => chunks.push(chunk));
		socket.once('end', () => resolve(Buffer.concat(chunks)));
		socket.once('error', reject);
	});
}

/** Reads `count` bytes and leaves the rest in the socket. */
export function readBytes(socket: Socket, count: number): Promise<Buffer> {
	return new Promise((resolve, reject) => {
		const done = (): void => {
			socket.off('readable', tryRead).off('close', fail).off('end', fail);
		};
		const tryRead = (): void => {
			const bytes: Buffer | null = socket.read(count);
			if (!bytes) return;
			done();
			resolve(bytes);
		};
		const fail = (): void => {
			done();
			reject(new Error(`The connection ended before ${count} bytes arrived.`));
		};
		socket.on('readable', tryRead).on('close', fail).on('end', fail);
		tryRead();
	});
}

/** Waits for the end of a connection. Returns `end` or `close`, or the error code. */
export function ending(socket: Socket): Promise<string> {
	socket.resume();
	return new Promise(resolve => {
		socket.once('end', () => resolve('end'));
		socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
		socket.once('close', () => resolve('close'));
	});
}

/** Sends bytes, ends the sending side, and returns the reply and the address of the client. */
export async function exchange(
	port: number,
	bytes: string | Uint8Array,
	host?: string,
): Promise<{reply: Buffer; client: string}> {
	const socket = await dial(port, host);
	const client = ownAddress(socket);
	const reply = readAll(socket);
	socket.end(bytes);
	return {reply: await reply, client};
}
