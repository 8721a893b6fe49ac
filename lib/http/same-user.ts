import type {IncomingMessage} from 'node:http';
import {performance} from 'node:perf_hooks';
import process from 'node:process';
import type {Log} from '../core/log.js';
import {RateLimiter} from '../util/rate-limiter.js';
import type {HttpError} from './http-error.js';
import {findSockets, type SocketRow, type SocketRows, socketKey} from './socket-table.js';

type PendingLookup = {
	readonly key: string;
	attempts: number;
	readonly resolve: (row: SocketRow | undefined) => void;
};

/** A read may miss a socket that was opened during it, so there are several. */
const MAX_ATTEMPTS = 3;
const LOG_INTERVAL_MS = 10_000;

/**
 * Finds the user who owns the other end of a loopback connection. One read of the table serves all
 * connections that wait when it begins; later connections wait for the next read. The number of open
 * connections bounds the queue.
 */
export class PeerOwners {
	readonly #find: (wanted: ReadonlySet<string>) => Promise<SocketRows>;
	#pending: PendingLookup[] = [];
	#isReading = false;

	constructor(find = findSockets) {
		this.#find = find;
	}

	/** Resolves to the socket at the other end; to undefined if there is none. */
	find(key: string): Promise<SocketRow | undefined> {
		return new Promise(resolve => {
			this.#pending.push({key, attempts: 0, resolve});
			if (!this.#isReading) void this.#read();
		});
	}

	async #read(): Promise<void> {
		this.#isReading = true;
		try {
			while (this.#pending.length > 0) {
				const batch = this.#pending.splice(0);
				this.#resolveFound(
					batch,
					await this.#find(new Set(batch.map(({key}) => key))).catch(() => undefined),
				);
			}
		} finally {
			this.#isReading = false;
		}
	}

	/**
	 * Resolves the connections that were found. Without a table, resolves all of them to undefined, without a
	 * retry.
	 */
	#resolveFound(batch: readonly PendingLookup[], found: SocketRows | undefined): void {
		for (const lookup of batch) {
			const row = found?.get(lookup.key);
			lookup.attempts++;
			if (row || !found || lookup.attempts === MAX_ATTEMPTS) lookup.resolve(row);
			else this.#pending.push(lookup);
		}
	}
}

const owners = new PeerOwners();

type SameUserOptions = {
	readonly log?: Log;
	/** The sentence for rejected clients: what to do next. */
	readonly remedy: string;
};

/**
 * Returns the reason to reject a request, if there is one. The result is a promise only if it is not known
 * yet.
 */
export type AdmitRequest = (req: IncomingMessage) => HttpError | undefined | Promise<HttpError | undefined>;

type CheckResult = {readonly rejection: HttpError | undefined} | Promise<HttpError | undefined>;

/**
 * Admits requests over connections that this user, or root, has opened on this machine. Each connection is
 * checked once, with its first request.
 */
export function admitSameUser({log, remedy}: SameUserOptions): AdmitRequest {
	const checked = new WeakMap<object, CheckResult>();
	const uid = process.geteuid?.();
	const rate = new RateLimiter(1, LOG_INTERVAL_MS, () => performance.now());
	const check = async ({socket}: IncomingMessage): Promise<HttpError | undefined> => {
		const {localAddress = '', localPort = 0, remoteAddress = '', remotePort = 0} = socket;
		// Looks for the row of the client: there, the client's end is the local one.
		const key = socketKey({
			localAddress: remoteAddress,
			localPort: remotePort,
			remoteAddress: localAddress,
			remotePort: localPort,
		});
		const reason = ownerProblem(key === undefined ? undefined : await owners.find(key), uid);
		const rejection = reason === undefined ? undefined : unauthorized(reason, remedy);
		if (rejection && rate.tryAcquire()) log?.warn('http.peer_rejected', rejection.message);
		checked.set(socket, {rejection});
		return rejection;
	};
	return req => {
		const result = checked.get(req.socket);
		if (result !== undefined) return result instanceof Promise ? result : result.rejection;
		const pending = check(req);
		checked.set(req.socket, pending);
		return pending;
	};
}

/** The reason why a socket is not accepted; undefined if it belongs to this user or root. */
export function ownerProblem(row: SocketRow | undefined, ownUid: number | undefined): string | undefined {
	if (!row) return 'the user of this connection could not be found';
	// Linux shows uid 0 for a socket that its process has closed.
	if (row.inode === 0) return 'the client closed its connection before its user could be looked up';
	if (row.uid === ownUid || row.uid === 0) return;
	return `this connection belongs to another user (uid ${row.uid}), and bridge serves only its own user (uid ${ownUid}) and root`;
}

const unauthorized = (reason: string, remedy: string): HttpError => ({
	status: 401,
	message: `Unauthorized: ${reason}. ${remedy}`,
	closesConnection: true,
});
