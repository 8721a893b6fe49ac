import type {ServerResponse} from 'node:http';
import type {Socket} from 'node:net';

/** The principal of each connection that has proved one. */
const principals = new WeakMap<object, string>();

/** Attributes a connection to the principal that one of its requests has proved. */
export function setConnectionPrincipal(socket: object, principal: string): void {
	principals.set(socket, principal);
}

/** The message for a server that has reached its limit of connections. */
export const connectionLimitMessage = (limit: number): string =>
	`There are ${limit} connections. Each new one replaces an idle one, or is closed if none is idle.`;

type ConnectionLimiterOptions = {
	readonly max: number;
	/** Whether requests prove a principal. If so, open requests do not protect a connection without one. */
	readonly havePrincipals: boolean;
	readonly onEvicted: () => void;
};

/**
 * The connections of an HTTP server. At the limit, a new one replaces an idle one: of the principal with the
 * most idle connections, the one that has been idle for the longest time. All connections without a principal
 * count as those of one principal, so that clients which only connect evict each other.
 */
export class ConnectionLimiter {
	readonly #options: ConnectionLimiterOptions;
	/** The number of open requests of each connection, in the order in which the connections became idle. */
	readonly #openRequests = new Map<Socket, number>();

	constructor(options: ConnectionLimiterOptions) {
		this.#options = options;
	}

	/** Counts a new connection. Returns false at the limit, if no connection is idle. */
	add(socket: Socket): boolean {
		if (this.#openRequests.size >= this.#options.max && !this.#evict()) return false;
		this.#openRequests.set(socket, 0);
		socket.once('close', () => this.#openRequests.delete(socket));
		return true;
	}

	/** Counts a request as open until its response has closed. */
	beginRequest(socket: Socket, response: ServerResponse): void {
		if (!this.#addOpen(socket, 1)) return;
		response.once('close', () => this.#addOpen(socket, -1));
	}

	/** Counts an upgraded connection as an open request until it closes. */
	beginUpgrade(socket: Socket): void {
		this.#addOpen(socket, 1);
	}

	#addOpen(socket: Socket, by: number): boolean {
		const count = this.#openRequests.get(socket);
		if (count === undefined) return false;
		if (count + by === 0) this.#openRequests.delete(socket);
		this.#openRequests.set(socket, count + by);
		return true;
	}

	#evict(): boolean {
		const idle = new Map<string | undefined, {readonly oldest: Socket; count: number}>();
		for (const [socket, open] of this.#openRequests) {
			const principal = principals.get(socket);
			const isProtected = open > 0 && !(this.#options.havePrincipals && principal === undefined);
			if (isProtected) continue;
			const entry = idle.get(principal);
			if (entry) entry.count++;
			else idle.set(principal, {oldest: socket, count: 1});
		}
		const [most] = [...idle.values()].sort((one, other) => other.count - one.count);
		if (!most) return false;
		this.#openRequests.delete(most.oldest);
		most.oldest.destroy();
		this.#options.onEvicted();
		return true;
	}
}
