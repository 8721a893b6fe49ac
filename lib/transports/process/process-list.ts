import {performance} from 'node:perf_hooks';
import {setTimeout as sleep} from 'node:timers/promises';
import {type ProcessInfo, youngerProcesses} from '../../util/process-tree.js';

/**
 * Milliseconds between reads, per millisecond that the last read of the process list blocked the event loop.
 */
const IDLE_FACTOR = 10;

let pendingRead: Promise<ProcessInfo[]> | undefined;
let nextReadAt = 0;

/**
 * Returns the processes that this one may have started, read after the call. All pending callers share one
 * read, so that many children that exit together do not block the event loop.
 */
export function readProcesses(): Promise<ProcessInfo[]> {
	pendingRead ??= readSoon();
	return pendingRead;
}

async function readSoon(): Promise<ProcessInfo[]> {
	await sleep(Math.max(0, nextReadAt - performance.now()));
	pendingRead = undefined;
	const startedAt = performance.now();
	const processes = youngerProcesses();
	const endedAt = performance.now();
	nextReadAt = endedAt + IDLE_FACTOR * (endedAt - startedAt);
	return processes;
}
