import {type ConnectOpts, Socket, type SocketConstructorOpts} from 'node:net';

/** How much is read at a time. */
const READ_BYTES = 2 ** 16;
/** What is no longer than this is copied out of the buffer that it was read into, so that the buffer serves again. */
const COPIED_BYTES = 2 ** 13;

/** What Node has behind a socket; it says nowhere else that it can be had. */
type Handle = {readStop?(): unknown; useUserBuffer?: unknown; reading?: boolean};
type Handled = {_handle?: Handle | null};

/** The constructor takes what connecting does, and a handle: its type leaves both out. */
type Options = SocketConstructorOpts & ConnectOpts & {readonly handle?: Handle};

/**
 * A pipe to read from, by its descriptor, which says nothing before it is resumed.
 *
 * Otherwise Node has a buffer of 64 KiB made for each message, however short, and cut to its length afterwards, which costs
 * more than all that bridge does with it.
 */
export const leanSocket = (fd: number): Socket => reading({fd});

/** The same for a pipe to a child, of which nothing has been read yet. The socket that it had is of no use then. */
export function leanly(socket: Socket): Socket {
	const handled = socket as Handled;
	const handle = handled._handle;
	// Another version of Node may have no such thing, and goes the longer way.
	if (!handle?.readStop || !handle.useUserBuffer) return socket;
	handle.readStop();
	handle.reading = false;
	handled._handle = null;
	socket.destroy();
	return reading({handle});
}

function reading(source: Options): Socket {
	let buffer = Buffer.allocUnsafeSlow(READ_BYTES);
	const options: Options = {
		...source,
		readable: true,
		writable: false,
		onread: {
			buffer: () => buffer,
			callback: length => {
				const chunk = buffer.subarray(0, length);
				if (length > COPIED_BYTES) buffer = Buffer.allocUnsafeSlow(READ_BYTES);
				socket.emit('data', length > COPIED_BYTES ? chunk : Buffer.from(chunk));
				return true;
			},
		},
	};
	const socket = new Socket(options);
	return socket.pause();
}
