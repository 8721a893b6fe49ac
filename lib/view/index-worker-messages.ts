import type {IndexProgress, ListedConnection} from './page/types.js';

/** The worker data of the indexing thread: open files. */
export type IndexTask = {readonly fds: readonly number[]};

/** Sent to the worker when the log may have grown. */
export type ToIndexWorker = 'grown';

/** Sent by the worker: progress, and everything new since the last update. */
export type IndexUpdate = IndexProgress & {
	readonly segments: readonly SharedArrayBuffer[];
	readonly methods: readonly string[];
	readonly connections: ReadonlyArray<readonly [number, ListedConnection]>;
};
