import type {ServerResponse} from 'node:http';
import type {Socket} from 'node:net';
import {performance} from 'node:perf_hooks';

type UnreadLimits = {
	/** For all connections together. */
	readonly bytes: number;
	/** How long a client may read nothing; 0 for no limit. */
	readonly forMs: number;
};

export type UnreadOptions = {
	/** Called on each check: the limits may change. */
	readonly limits: () => UnreadLimits;
	readonly onClosed: (reason: string, unreadBytes: number) => void;
};

const MIB = 2 ** 20;
export const DEFAULT_UNREAD_BYTES = 256 * MIB;
export const DEFAULT_UNREAD_MS = 60_000;

const MIN_SWEEP_MS = 50;
const MAX_SWEEP_MS = 1000;
/** Added to the idle time, so that the unread bytes of a connection count from the first moment. */
const MIN_WEIGHT_MS = 100;

type UnreadState = {
	bytes: number;
	/** Bytes that the kernel had accepted at the last check, and when that number last increased. */
	acceptedBytes: number;
	progressAt: number;
	/** Responses that are queued behind the one that is being written. */
	readonly queuedResponses: Set<ServerResponse>;
};

/** The progress of a write, in the TCP handle. Node's own socket timeout uses the same fields. */
type TcpHandle = {readonly bytesWritten?: number; readonly writeQueueSize?: number};

const limiters = new WeakMap<object, UnreadResponses>();

/** To be called after a write that the kernel has not accepted completely. */
export function trackUnread(socket: object | null | undefined, response?: ServerResponse): void {
	if (socket) limiters.get(socket)?.track(socket as Socket, response);
}

/** Like `trackUnread`, for a response. Does nothing if the kernel has accepted all of it. */
export function trackUnreadResponse(response: ServerResponse): void {
	if (response.writableLength > 0) trackUnread(response.req?.socket, response);
}

/**
 * The responses that clients do not read, of all connections of a server.
 *
 * Over the limit, closes connections, those with the most unread bytes for the longest time first. Also
 * closes a connection whose client reads nothing for too long. Unfinished writes of messages are counted
 * immediately, all others by the sweep.
 */
export class UnreadResponses {
	readonly #options: UnreadOptions;
	readonly #sockets = new Map<Socket, UnreadState>();
	#totalBytes = 0;

	constructor(options: UnreadOptions) {
		this.#options = options;
		this.#sweepLater();
	}

	watch(socket: Socket): void {
		limiters.set(socket, this);
		this.#sockets.set(socket, {bytes: 0, acceptedBytes: 0, progressAt: 0, queuedResponses: new Set()});
		socket.once('close', () => this.#remove(socket));
	}

	track(socket: Socket, response?: ServerResponse): void {
		const unread = this.#sockets.get(socket);
		if (!unread) return;
		if (response && !response.socket) unread.queuedResponses.add(response);
		this.#measure(socket, unread, performance.now());
		if (this.#totalBytes > this.#options.limits().bytes) this.#closeHeaviest();
	}

	#measure(socket: Socket, unread: UnreadState, now: number): void {
		const before = unread.bytes;
		unread.bytes = unreadBytesOf(socket, unread.queuedResponses);
		this.#totalBytes += unread.bytes - before;
		const acceptedBytes = acceptedBytesOf(socket);
		if (before > 0 && acceptedBytes === unread.acceptedBytes) return;
		unread.acceptedBytes = acceptedBytes;
		unread.progressAt = now;
	}

	#closeHeaviest(): void {
		const now = performance.now();
		const {bytes: limit} = this.#options.limits();
		for (const [socket, unread] of this.#sockets) this.#measure(socket, unread, now);
		const weight = ({bytes, progressAt}: UnreadState): number => bytes * (now - progressAt + MIN_WEIGHT_MS);
		const heaviest = [...this.#sockets].sort(([, one], [, other]) => weight(other) - weight(one));
		for (const [socket, {bytes}] of heaviest) {
			if (this.#totalBytes <= limit) return;
			this.#close(
				socket,
				`all clients together have more than ${Math.floor(limit / MIB)} MiB unread (limits.unread)`,
				bytes,
			);
		}
	}

	#close(socket: Socket, reason: string, bytes: number): void {
		this.#remove(socket);
		// Without a reset the kernel would keep accepted bytes. Only TCP has resets: for a Unix socket Node
		// throws.
		if (socket.remoteFamily === undefined) socket.destroy();
		else socket.resetAndDestroy();
		this.#options.onClosed(reason, bytes);
	}

	#remove(socket: Socket): void {
		this.#totalBytes -= this.#sockets.get(socket)?.bytes ?? 0;
		this.#sockets.delete(socket);
	}

	#sweepLater(): void {
		const {forMs} = this.#options.limits();
		const waitMs = forMs === 0 ? MAX_SWEEP_MS : Math.max(MIN_SWEEP_MS, Math.min(forMs / 4, MAX_SWEEP_MS));
		setTimeout(() => {
			this.#sweep();
			this.#sweepLater();
		}, waitMs).unref();
	}

	#sweep(): void {
		const now = performance.now();
		const {bytes: limit, forMs} = this.#options.limits();
		for (const [socket, unread] of this.#sockets) {
			this.#measure(socket, unread, now);
			if (unread.bytes === 0 || forMs === 0 || now - unread.progressAt < forMs) continue;
			const reason = `the client has read nothing for ${forMs / 1000} s (limits.unreadFor)`;
			this.#close(socket, reason, unread.bytes);
		}
		if (this.#totalBytes > limit) this.#closeHeaviest();
	}
}

function unreadBytesOf(socket: Socket, queued: Set<ServerResponse>): number {
	let bytes = socket.writableLength;
	for (const response of queued)
		if (response.socket || response.destroyed) queued.delete(response);
		else bytes += response.writableLength;
	return bytes;
}

/** Bytes that the kernel has accepted from a connection. */
function acceptedBytesOf(socket: Socket): number {
	const {bytesWritten = 0, writeQueueSize = 0} = (socket as {_handle?: TcpHandle | null})._handle ?? {};
	return bytesWritten - writeQueueSize;
}
