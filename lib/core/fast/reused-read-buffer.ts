import {type ConnectOpts, Socket, type SocketConstructorOpts} from 'node:net';
import {allocateReadBlock} from './read-block.js';

/** What a pipe holds, so that more is never read at a time from one that has been silent. */
const FIRST_BUFFER_BYTES = 2 ** 16;
/** With less room than this left in a block the next one begins. */
const MIN_FREE_BYTES = 2 ** 15;
/** What is no longer than this is copied out of the buffer that it was read into, so that the buffer serves again. */
const MAX_COPIED_BYTES = 2 ** 13;

/** What Node has behind a socket; it says nowhere else that it can be had. */
type Handle = {readStop?(): unknown; useUserBuffer?: unknown; reading?: boolean};
type SocketWithHandle = {_handle?: Handle | null};

/** The constructor takes what connecting does, and a handle: its type leaves both out. */
type SocketOptions = SocketConstructorOpts & ConnectOpts & {readonly handle?: Handle};

/**
 * A pipe to read from, by its descriptor, which says nothing before it is resumed.
 *
 * Otherwise Node has a buffer of 64 KiB made for each message, however short, and cut to its length afterwards, which costs
 * more than all that bridge does with it.
 */
export const openReusingSocket = (fd: number): Socket => createReadSocket({fd});

/** The same for a pipe to a child, of which nothing has been read yet. The socket that it had is of no use then. */
export function reuseReadBuffer(socket: Socket): Socket {
	const withHandle = socket as SocketWithHandle;
	const handle = withHandle._handle;
	// Another version of Node may have no such thing, and goes the longer way.
	if (!handle?.readStop || !handle.useUserBuffer) return socket;
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
