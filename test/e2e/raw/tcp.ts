import {once} from 'node:events';
import {connect, createServer, type Server, type Socket} from 'node:net';
import type {ExecutionContext} from 'ava';

/** A server of a test, and who has connected to it. */
export class Peer {
	readonly server: Server;
	readonly sockets: Socket[] = [];
	readonly #waiting = new Set<() => void>();

	constructor(onSocket: (socket: Socket) => void, isPaused = false) {
		this.server = createServer({allowHalfOpen: true, pauseOnConnect: isPaused}, socket => {
			// How a connection ends is for the test to notice.
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

	/** The connection with this number, be it there already or yet to come. */
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

/** A server for no longer than the test lasts. It does with each connection what it is told. */
export async function startPeer(
	t: ExecutionContext,
	onSocket: (socket: Socket) => void = () => {},
	options: {readonly host?: string; readonly port?: number; readonly isPaused?: boolean} = {},
): Promise<Peer> {
	const peer = await new Peer(onSocket, options.isPaused).listen(options.host, options.port);
	t.teardown(() => peer.close());
	return peer;
}

/** A server that gives back what it gets, to the end. */
export const startEcho = (host?: string): Promise<Peer> =>
	new Peer(socket => socket.pipe(socket)).listen(host);

/** Connects, and resolves when that is done. The end that the peer says is no end of what is said here. */
export async function dial(port: number, host = '127.0.0.1'): Promise<Socket> {
	const socket = connect({port, host, allowHalfOpen: true});
	await once(socket, 'connect');
	socket.on('error', () => {});
	return socket;
}

/** An address as it stands in a log. */
export const ownAddress = ({localAddress, localPort}: Socket): string => `${localAddress}:${localPort}`;

/** All that comes until the peer has said its end. */
export function readAll(socket: Socket): Promise<Buffer> {
	const chunks: Buffer[] = [];
	return new Promise((resolve, reject) => {
		socket.on('data', chunk => chunks.push(chunk));
		socket.once('end', () => resolve(Buffer.concat(chunks)));
		socket.once('error', reject);
	});
}

/** So many bytes of what comes. The rest stays with the socket. */
export function readBytes(socket: Socket, count: number): Promise<Buffer> {
	return new Promise((resolve, reject) => {
		const done = (): void => {
			socket.off('readable', look).off('close', fail).off('end', fail);
		};
		const look = (): void => {
			const bytes: Buffer | null = socket.read(count);
			if (!bytes) return;
			done();
			resolve(bytes);
		};
		const fail = (): void => {
			done();
			reject(new Error(`There were less than ${count} bytes.`));
		};
		socket.on('readable', look).on('close', fail).on('end', fail);
		look();
	});
}

/** How a connection ends: `end` where the peer says so, else the code of the error. */
export function ending(socket: Socket): Promise<string> {
	socket.resume();
	return new Promise(resolve => {
		socket.once('end', () => resolve('end'));
		socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
		socket.once('close', () => resolve('close'));
	});
}

/** Says something, ends, and resolves to all that came back and to the address that it was said from. */
export async function exchange(
	port: number,
	bytes: string | Uint8Array,
	host?: string,
): Promise<{answer: Buffer; client: string}> {
	const socket = await dial(port, host);
	const client = ownAddress(socket);
	const answer = readAll(socket);
	socket.end(bytes);
	return {answer: await answer, client};
}
