import {
	type AddressInfo,
	connect as connectSocket,
	createServer,
	type Server,
	type Socket,
	type TcpNetConnectOpts,
} from 'node:net';
import {Observable} from 'rxjs';
import {Envelope, type MessageOrigin} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {ShutValves} from '../../core/shut-valves.js';
import type {Endpoint} from '../../core/stage.js';
import {Valve} from '../../core/valve.js';

/** One side of a TCP connection. Each chunk is an envelope, completion is a FIN, and an error is a RST. */
type TcpEndpoint = Endpoint & {
	/** Stops reading and sends a FIN. Resolves when all data is sent or the connection is closed. */
	finish(): Promise<void>;
	reset(): void;
};

type TcpOptions = {
	readonly name: string;
	/** Called on a socket error. All data may have been read before it. */
	readonly onBroken: (error: BridgeError) => void;
};

/** Wraps a connected socket, which must have `allowHalfOpen`, in an endpoint. */
export function tcpEndpoint(socket: Socket, {name, onBroken}: TcpOptions): TcpEndpoint {
	const origin: MessageOrigin = {name, valve: new Valve()};
	const shutValves = new ShutValves();
	const release = (): void => {
		if (socket.writableLength === 0) shutValves.release();
	};
	socket.on('close', () => shutValves.release());
	socket.on('error', error => onBroken(connectionError(name, error)));
	const closed = new Promise<void>(resolve => socket.once('close', () => resolve()));
	return {
		name,
		incoming: readChunks(socket, origin),
		outgoing: {
			next({line, origin: {valve}}) {
				socket.write(line, release);
				// Usually the kernel accepts all of it at once. Otherwise the sender must not read more: the
				// next read could overwrite the same buffer.
				if (socket.writableLength > 0 && !socket.destroyed) shutValves.shut(valve);
			},
			complete: () => void socket.end(),
			error: () => void socket.resetAndDestroy(),
		},
		disconnected: closed,
		reset: () => void socket.resetAndDestroy(),
		finish: () => {
			origin.valve.shut();
			socket.pause();
			return new Promise(resolve => {
				socket.once('close', () => resolve());
				socket.end(() => resolve());
			});
		},
		close: () => {
			socket.destroy();
			return closed;
		},
	};
}

/** Emits the chunks of a socket, which is read only while the valve of its origin is open. */
const readChunks = (socket: Socket, origin: MessageOrigin): Observable<Envelope> =>
	new Observable(subscriber => {
		const {valve} = origin;
		const resume = (): void => {
			if (!subscriber.closed) socket.resume();
		};
		socket.on('data', chunk => {
			subscriber.next(Envelope.received(chunk as Buffer, origin));
			if (valve.isOpen) return;
			socket.pause();
			valve.whenOpen(resume);
		});
		socket.once('end', () => subscriber.complete());
		socket.once('error', error => subscriber.error(connectionError(origin.name, error)));
		socket.once('close', () => subscriber.complete());
		socket.resume();
	});

const connectionError = (name: string, {code, message}: NodeJS.ErrnoException): BridgeError =>
	new BridgeError(
		'ERR_SESSION_CLOSED',
		code === 'ECONNRESET' ? `${name} reset the connection (ECONNRESET)` : message || `${name}: ${code}`,
		'Connect again.',
	);

type TcpAddress = {readonly host: string; readonly port: number};

const connectOptions = ({host, port}: TcpAddress): TcpNetConnectOpts => ({
	host,
	port,
	noDelay: true,
	allowHalfOpen: true,
});

export const connectTcp = (address: TcpAddress): Socket => connectSocket(connectOptions(address));

/** The size of one read. It also bounds the data in one line of a log. */
const READ_BYTES = 128 * 1024;

/**
 * Starts to connect to a target. All reads share one buffer: a chunk is valid until the next one arrives.
 *
 * This saves an allocation per read. The socket is paused, so that nothing is read before it is resumed.
 */
export function connectTcpForForwarding(address: TcpAddress): Socket {
	const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
	const callback = (length: number): boolean => socket.emit('data', buffer.subarray(0, length));
	const socket = connectSocket({...connectOptions(address), onread: {buffer, callback}});
	return socket.pause();
}

/** Resolves to true when the socket connects, and to false when it closes first. */
export const whenConnected = (socket: Socket): Promise<boolean> =>
	new Promise(resolve => {
		socket.once('connect', () => resolve(true)).once('close', () => resolve(false));
	});

type TcpListenOptions = {
	readonly host: string;
	readonly port: number;
	readonly maxConnections: number;
	readonly accept: (socket: Socket) => void;
	/** Called when a connection over the limit was closed. */
	readonly onDropped: () => void;
};

/** Listens for connections. Clients wait in the kernel's accept queue. */
export function listenTcp({
	host,
	port,
	maxConnections,
	accept,
	onDropped,
}: TcpListenOptions): Promise<Server> {
	const server = createServer({noDelay: true, allowHalfOpen: true, pauseOnConnect: true}, accept);
	server.maxConnections = maxConnections;
	server.on('drop', onDropped);
	return new Promise((resolve, reject) => {
		server.once('error', reject);
		server.listen({host, port, backlog: BACKLOG}, () => {
			server.off('error', reject);
			resolve(server);
		});
	});
}

const BACKLOG = 4096;

export const portOf = (server: Server): number => (server.address() as AddressInfo).port;
