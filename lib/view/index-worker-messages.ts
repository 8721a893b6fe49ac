import type {IndexProgress, ListedConnection} from './page/types.js';

/** What the thread that indexes is given: files that are open already. */
export type IndexTask = {readonly fds: readonly number[]};

/** What it is told: there may be more to read. */
export type ToIndexWorker = 'grown';

/** What it tells, again and again: what is new since it did so last. */
export type IndexUpdate = IndexProgress & {
	readonly segments: readonly SharedArrayBuffer[];
	readonly methods: readonly string[];
	readonly connections: ReadonlyArray<readonly [number, ListedConnection]>;
};
