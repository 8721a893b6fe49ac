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

/** An end of a TCP connection. A chunk is an envelope; completion is a FIN, and an error is a RST. */
type TcpEndpoint = Endpoint & {
	/** Says no more, reads no more, and resolves when what was said is on its way, or nobody takes it. */
	finish(): Promise<void>;
	/** Ends the connection as if the program behind it had died. */
	reset(): void;
};

type TcpOptions = {
	readonly name: string;
	/** The connection is broken; perhaps after all was read from it. */
	readonly onBroken: (error: BridgeError) => void;
};

/** A connected socket, which has to allow half of it to be closed, as an endpoint. */
export function tcpEndpoint(socket: Socket, {name, onBroken}: TcpOptions): TcpEndpoint {
	const origin: MessageOrigin = {name, valve: new Valve()};
	const shutValves = new ShutValves();
	const release = (): void => {
		if (socket.writableLength === 0) shutValves.release();
	};
	socket.on('close', () => shutValves.release());
	socket.on('error', error => onBroken(connectionError(name, error)));
	const gone = new Promise<void>(resolve => socket.once('close', () => resolve()));
	return {
		name,
		incoming: readChunks(socket, origin),
		outgoing: {
			next({line, origin: {valve}}) {
				socket.write(line, release);
				// Mostly the system takes all of it at once. If not, who sent it may read no more: it would be into the same memory.
				if (socket.writableLength > 0 && !socket.destroyed) shutValves.shut(valve);
			},
			complete: () => void socket.end(),
			error: () => void socket.resetAndDestroy(),
		},
		disconnected: gone,
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
			return gone;
		},
	};
}

/** What a socket says, read only while the valve of its origin is open. */
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

/** A socket that is about to be connected to a target. */
export const connectTcp = (address: TcpAddress): Socket => connectSocket(connectOptions(address));

/** How much is read at a time, which is also the most that is in a line of a log. */
const READ_BYTES = 128 * 1024;

/**
 * The same for bytes that go straight on: nothing is read before the socket is resumed, and a chunk is good until the next one
 * comes. All are read into the same memory, which Node would otherwise have to get anew for each of them.
 */
export function connectTcpForForwarding(address: TcpAddress): Socket {
	const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
	const callback = (length: number): boolean => socket.emit('data', buffer.subarray(0, length));
	const socket = connectSocket({...connectOptions(address), onread: {buffer, callback}});
	return socket.pause();
}

/** Resolves to whether a socket was connected before it was closed. */
export const whenConnected = (socket: Socket): Promise<boolean> =>
	new Promise(resolve => {
		socket.once('connect', () => resolve(true)).once('close', () => resolve(false));
	});

type TcpListenOptions = {
	readonly host: string;
	readonly port: number;
	readonly maxConnections: number;
	/** A client has connected. Nothing of what it says is read before somebody asks for it. */
	readonly accept: (socket: Socket) => void;
	/** There were too many, and one was closed. */
	readonly onDropped: () => void;
};

/** Listens for connections, whose clients wait in the system's queue until they are taken. */
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

/** The port that a server listens on. */
export const portOf = (server: Server): number => (server.address() as AddressInfo).port;
