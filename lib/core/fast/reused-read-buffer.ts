import {type ConnectOpts, Socket, type SocketConstructorOpts} from 'node:net';
import {isOptimized} from '../../util/optimizations.js';
import {allocateReadBlock} from './read-block.js';

const isEnabled = isOptimized('read-buffer');

/** The capacity of a pipe, which bounds the first read. */
const FIRST_BUFFER_BYTES = 2 ** 16;
/** A block with less free space than this is replaced. */
const MIN_FREE_BYTES = 2 ** 15;
/** Chunks up to this length are copied so that the read buffer can be reused. */
const MAX_COPIED_BYTES = 2 ** 13;

/** The parts of Node's internal socket handle that are used here. They are undocumented. */
type Handle = {readStop?(): unknown; useUserBuffer?: unknown; reading?: boolean};
type SocketWithHandle = {_handle?: Handle | null};

/** The options that the constructor accepts. Node's types omit the connection options and the handle. */
type SocketOptions = SocketConstructorOpts & ConnectOpts & {readonly handle?: Handle};

/**
 * Opens a paused pipe for reading, by its descriptor.
 *
 * By default Node allocates a 64 KiB buffer for each message, however short, and trims it afterwards. That
 * costs more than the rest of the processing.
 */
export const openReusingSocket = (fd: number): Socket =>
	isEnabled ? createReadSocket({fd}) : new Socket({fd, readable: true, writable: false}).pause();

/**
 * Moves a child's pipe that was not read yet to a socket with a reused buffer. The old socket must not be
 * used any more.
 */
export function reuseReadBuffer(socket: Socket): Socket {
	const withHandle = socket as SocketWithHandle;
	const handle = withHandle._handle;
	// Other versions of Node may lack these internals. The socket is then used as it is.
	if (!isEnabled || !handle?.readStop || !handle.useUserBuffer) return socket;
	handle.readStop();
	handle.reading = false;
	withHandle._handle = null;
	socket.destroy();
	return createReadSocket({handle});
}

function createReadSocket(source: SocketOptions): Socket {
	let buffer: Buffer = Buffer.allocUnsafeSlow(FIRST_BUFFER_BYTES);
	const options: SocketOptions = {
		...source,
		readable: true,
		writable: false,
		onread: {
			buffer: () => buffer,
			callback: length => {
				const chunk = buffer.subarray(0, length);
				const isLong = length > MAX_COPIED_BYTES;
				if (isLong)
					buffer = length + MIN_FREE_BYTES > buffer.length ? allocateReadBlock() : buffer.subarray(length);
				socket.emit('data', isLong ? chunk : Buffer.from(chunk));
				return true;
			},
		},
	};
	const socket = new Socket(options);
	return socket.pause();
}
