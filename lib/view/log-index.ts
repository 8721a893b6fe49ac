import {Worker} from 'node:worker_threads';
import {Subject} from 'rxjs';
import {indexWorker} from '../run-time-files.js';
import {IndexColumns, IndexSegment} from './index-columns.js';
import type {IndexTask, IndexUpdate, ToIndexWorker} from './index-worker-messages.js';
import {LogBytes} from './log-bytes.js';
import type {IndexProgress, ListedConnection} from './page/types.js';

type LogIndexOptions = {
	/** The files of the log, open. */
	readonly fds: readonly number[];
	/** The module of the thread that indexes, where it does not lie beside this one. */
	readonly worker?: URL | undefined;
	/** Told if the thread died, which nobody has foreseen. */
	readonly onBug: (error: Error) => void;
};

const INITIAL_PROGRESS: IndexProgress = {
	rows: 0,
	readBytes: 0,
	totalBytes: 0,
	tailBytes: 0,
	isAtEnd: false,
	isFull: false,
};

/** The index of a log of any size, made in a thread of its own, and there from the first lines on. */
export class LogIndex {
	readonly columns = new IndexColumns();
	readonly bytes: LogBytes;
	readonly methods: string[] = [];
	readonly connections: Array<ListedConnection | undefined> = [undefined];
	/** Names of servers, in the order in which they turned up. */
	readonly servers = new Set<string>();
	progress: IndexProgress = INITIAL_PROGRESS;
	/** Something is new. */
	readonly changed = new Subject<void>();
	readonly #worker: Worker;

	constructor({fds, worker = indexWorker, onBug}: LogIndexOptions) {
		this.bytes = new LogBytes(fds);
		this.#worker = new Worker(worker, {workerData: {fds} satisfies IndexTask});
		this.#worker.on('message', (news: IndexUpdate) => this.#applyUpdate(news));
		this.#worker.on('error', onBug);
		this.#worker.unref();
	}

	/** There may be more to read. */
	notifyGrown(): void {
		this.#worker.postMessage('grown' satisfies ToIndexWorker);
	}

	async close(): Promise<void> {
		this.bytes.close();
		this.changed.complete();
		await this.#worker.terminate();
	}

	#applyUpdate({segments, methods, connections, ...progress}: IndexUpdate): void {
		this.columns.segments.push(...segments.map(memory => new IndexSegment(memory)));
		this.columns.count = progress.rows;
		for (const method of methods) this.methods.push(method);
		for (const [number, connection] of connections) {
			this.connections[number] = connection;
			if (this.servers.size < MAX_SERVERS) this.servers.add(connection.upstream);
		}
		this.progress = progress;
		this.changed.next();
	}
}

/** More are not offered to choose from. */
const MAX_SERVERS = 500;
