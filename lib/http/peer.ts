import type {IncomingMessage} from 'node:http';
import {performance} from 'node:perf_hooks';
import process from 'node:process';
import type {Log} from '../log.js';
import {Rate} from '../rate.js';
import type {Refused} from './refuse.js';
import {type Found, findSockets, keyOf, type SocketRow} from './socket-table.js';

/** A connection whose owner is not looked up yet. */
type Waiting = {
	readonly key: string;
	attempts: number;
	readonly done: (row: SocketRow | undefined) => void;
};

/** A read may miss a socket that was opened during it, so there are several. */
const MAX_ATTEMPTS = 3;
const LOGGED_EVERY_MS = 10_000;

/**
 * Finds the user who owns the other end of a loopback connection. One read of the table serves all connections that
 * wait when it begins; later connections wait for the next read. The number of open connections bounds the queue.
 */
export class PeerOwners {
	readonly #find: (wanted: ReadonlySet<string>) => Promise<Found>;
	#waiting: Waiting[] = [];
	#isReading = false;

	constructor(find = findSockets) {
		this.#find = find;
	}

	/** Resolves to the socket at the other end; to undefined if there is none. */
	find(key: string): Promise<SocketRow | undefined> {
		return new Promise(done => {
			this.#waiting.push({key, attempts: 0, done});
			if (!this.#isReading) void this.#read();
		});
	}

	async #read(): Promise<void> {
		this.#isReading = true;
		try {
			while (this.#waiting.length > 0) {
				const batch = this.#waiting.splice(0);
				this.#settle(batch, await this.#find(new Set(batch.map(({key}) => key))).catch(() => undefined));
			}
		} finally {
			this.#isReading = false;
		}
	}

	/** Resolves the connections that were found. Without a table, resolves all of them to undefined, without a retry. */
	#settle(batch: readonly Waiting[], found: Found | undefined): void {
		for (const one of batch) {
			const row = found?.get(one.key);
			one.attempts++;
			if (row || !found || one.attempts === MAX_ATTEMPTS) one.done(row);
			else this.#waiting.push(one);
		}
	}
}

const owners = new PeerOwners();

export type SameUserOptions = {
	readonly log?: Log;
	/** The sentence for rejected clients: what to do next. */
	readonly remedy: string;
};

/** Returns the reason to reject a request, if any: synchronously, if the result is known. */
export type Admit = (req: IncomingMessage) => Refused | undefined | Promise<Refused | undefined>;

/** The result for one connection, or the pending check. */
type Checked = {readonly refused: Refused | undefined} | Promise<Refused | undefined>;

/**
 * Admits requests over connections that this user, or root, has opened on this machine. Each connection is checked once,
 * with its first request.
 */
export function sameUser({log, remedy}: SameUserOptions): Admit {
	const checked = new WeakMap<object, Checked>();
	const uid = process.geteuid?.();
	const rate = new Rate(1, LOGGED_EVERY_MS, () => performance.now());
	const check = async ({socket}: IncomingMessage): Promise<Refused | undefined> => {
		const {localAddress = '', localPort = 0, remoteAddress = '', remotePort = 0} = socket;
		// Looks for the row of the client: there, the client's end is the local one.
		const key = keyOf({
			localAddress: remoteAddress,
			localPort: remotePort,
			remoteAddress: localAddress,
			remotePort: localPort,
		});
		const reason = problemOf(key === undefined ? undefined : await owners.find(key), uid);
		const refused = reason === undefined ? undefined : rejected(reason, remedy);
		if (refused && rate.take()) log?.warn('http.peer_rejected', refused.message);
		checked.set(socket, {refused});
		return refused;
	};
	return req => {
		const known = checked.get(req.socket);
		if (known !== undefined) return known instanceof Promise ? known : known.refused;
		const pending = check(req);
		checked.set(req.socket, pending);
		return pending;
	};
}

/** The reason why a socket is not accepted; undefined if it belongs to this user or root. */
export function problemOf(row: SocketRow | undefined, own: number | undefined): string | undefined {
	if (!row) return 'the user of this connection could not be found';
	// Linux shows uid 0 for a socket that its process has closed.
	if (row.inode === 0) return 'the client closed its connection before its user could be looked up';
	if (row.uid === own || row.uid === 0) return;
	return `this connection belongs to another user (uid ${row.uid}), and bridge serves only its own user (uid ${own}) and root`;
}

const rejected = (reason: string, remedy: string): Refused => ({
	status: 401,
	message: `Unauthorized: ${reason}. ${remedy}`,
	isLast: true,
});
