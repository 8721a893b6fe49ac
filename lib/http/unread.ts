import type {ServerResponse} from 'node:http';
import type {Socket} from 'node:net';
import {performance} from 'node:perf_hooks';

export type UnreadLimits = {
	/** For all connections together. */
	readonly bytes: number;
	/** How long a client may read nothing; 0 for no limit. */
	readonly forMs: number;
};

export type UnreadOptions = {
	/** Called on each check: the limits may change. */
	readonly limits: () => UnreadLimits;
	/** Called when a connection was closed. */
	readonly onClosed: (reason: string, unreadBytes: number) => void;
};

const MIB = 2 ** 20;
export const UNREAD_BYTES = 256 * MIB;
export const UNREAD_FOR_MS = 60_000;

const MIN_SWEEP_MS = 50;
const MAX_SWEEP_MS = 1000;
/** Added to the idle time, so that the unread bytes of a connection count from the first moment. */
const NEW_MS = 100;

/** The unread data of one connection. */
type Unread = {
	bytes: number;
	/** Bytes that the kernel had accepted at the last check, and when that number last increased. */
	taken: number;
	since: number;
	/** Responses that are queued behind the one that is being written. */
	readonly responses: Set<ServerResponse>;
};

/** The progress of a write, in the TCP handle. Node's own socket timeout uses the same fields. */
type Handle = {readonly bytesWritten?: number; readonly writeQueueSize?: number};

const limiters = new WeakMap<object, UnreadResponses>();

/** To be called after a write that the kernel has not accepted completely. */
export function noteUnread(socket: object | null | undefined, response?: ServerResponse): void {
	if (socket) limiters.get(socket)?.note(socket as Socket, response);
}

/** The same for a response. Does nothing if the kernel has accepted all of it. */
export function noteResponse(response: ServerResponse): void {
	if (response.writableLength > 0) noteUnread(response.req?.socket, response);
}

/**
 * The responses that clients do not read, of all connections of a server.
 *
 * Over the limit, closes connections, those with the most unread bytes for the longest time first. Also closes a connection
 * whose client reads nothing for too long. Unfinished writes of messages are counted immediately, all others by the sweep.
 */
export class UnreadResponses {
	readonly #options: UnreadOptions;
	readonly #sockets = new Map<Socket, Unread>();
	#sum = 0;

	constructor(options: UnreadOptions) {
		this.#options = options;
		this.#sweepLater();
	}

	watch(socket: Socket): void {
		limiters.set(socket, this);
		this.#sockets.set(socket, {bytes: 0, taken: 0, since: 0, responses: new Set()});
		socket.once('close', () => this.#forget(socket));
	}

	note(socket: Socket, response?: ServerResponse): void {
		const unread = this.#sockets.get(socket);
		if (!unread) return;
		if (response && !response.socket) unread.responses.add(response);
		this.#look(socket, unread, performance.now());
		if (this.#sum > this.#options.limits().bytes) this.#relieve();
	}

	#look(socket: Socket, unread: Unread, now: number): void {
		const before = unread.bytes;
		unread.bytes = bytesIn(socket, unread.responses);
		this.#sum += unread.bytes - before;
		const taken = takenBy(socket);
		if (before > 0 && taken === unread.taken) return;
		unread.taken = taken;
		unread.since = now;
	}

	/** Closes connections until the rest is within the limit. */
	#relieve(): void {
		const now = performance.now();
		const {bytes: limit} = this.#options.limits();
		for (const [socket, unread] of this.#sockets) this.#look(socket, unread, now);
		const weight = ({bytes, since}: Unread): number => bytes * (now - since + NEW_MS);
		const heaviest = [...this.#sockets].sort(([, one], [, other]) => weight(other) - weight(one));
		for (const [socket, {bytes}] of heaviest) {
			if (this.#sum <= limit) return;
			this.#close(
				socket,
				`all clients together have more than ${Math.floor(limit / MIB)} MiB unread (limits.unread)`,
				bytes,
			);
		}
	}

	#close(socket: Socket, reason: string, bytes: number): void {
		this.#forget(socket);
		// Without a reset the kernel would keep accepted bytes. Only TCP has resets: for a Unix socket Node throws.
		if (socket.remoteFamily === undefined) socket.destroy();
		else socket.resetAndDestroy();
		this.#options.onClosed(reason, bytes);
	}

	#forget(socket: Socket): void {
		this.#sum -= this.#sockets.get(socket)?.bytes ?? 0;
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
			this.#look(socket, unread, now);
			if (unread.bytes === 0 || forMs === 0 || now - unread.since < forMs) continue;
			const reason = `the client has read nothing for ${forMs / 1000} s (limits.unreadFor)`;
			this.#close(socket, reason, unread.bytes);
		}
		if (this.#sum > limit) this.#relieve();
	}
}

function bytesIn(socket: Socket, waiting: Set<ServerResponse>): number {
	let bytes = socket.writableLength;
	for (const response of waiting)
		if (response.socket || response.destroyed) waiting.delete(response);
		else bytes += response.writableLength;
	return bytes;
}

/** Bytes that the kernel has accepted from a connection. */
function takenBy(socket: Socket): number {
	const {bytesWritten = 0, writeQueueSize = 0} = (socket as {_handle?: Handle | null})._handle ?? {};
	return bytesWritten - writeQueueSize;
}
