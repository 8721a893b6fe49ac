import {Worker} from 'node:worker_threads';
import {Subject} from 'rxjs';
import {indexWorker} from '../run-time-files.js';
import {IndexColumns, IndexSegment} from './index-columns.js';
import type {IndexTask, IndexUpdate, ToIndexWorker} from './index-worker-messages.js';
import {LogBytes} from './log-bytes.js';
import type {IndexProgress, ListedConnection} from './page/types.js';

type LogIndexOptions = {
	/** The open files of the log. */
	readonly fds: readonly number[];
	/** The module of the indexing thread, if it is not next to this one. */
	readonly worker?: URL | undefined;
	/** Called if the thread fails unexpectedly. */
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

/**
 * The index of a log of any size. A worker thread creates it, and its first rows are available immediately.
 */
export class LogIndex {
	readonly columns = new IndexColumns();
	readonly bytes: LogBytes;
	readonly methods: string[] = [];
	readonly connections: Array<ListedConnection | undefined> = [undefined];
	/** The names of servers in order of appearance. */
	readonly servers = new Set<string>();
	progress: IndexProgress = INITIAL_PROGRESS;
	/** Emits when the index has new rows or progress. */
	readonly changed = new Subject<void>();
	readonly #worker: Worker;

	constructor({fds, worker = indexWorker, onBug}: LogIndexOptions) {
		this.bytes = new LogBytes(fds);
		this.#worker = new Worker(worker, {workerData: {fds} satisfies IndexTask});
		this.#worker.on('message', (update: IndexUpdate) => this.#applyUpdate(update));
		this.#worker.on('error', onBug);
		this.#worker.unref();
	}

	/** Makes the worker read appended lines. */
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

/** The maximum number of servers in the filter. */
const MAX_SERVERS = 500;
