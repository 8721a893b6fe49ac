import {performance} from 'node:perf_hooks';
import {setTimeout as sleep} from 'node:timers/promises';
import {type ProcessInfo, youngerProcesses} from '../../util/process-tree.js';

/** Reading the list of processes blocks the event loop. For each millisecond of it, this many milliseconds are kept free. */
const IDLE_FACTOR = 10;

let pendingRead: Promise<ProcessInfo[]> | undefined;
let nextReadAt = 0;

/**
 * The processes that this one may have started, read after the call. One read serves all callers that wait: many children
 * that exit at once, as in a storm of sessions, take no more of the event loop than a few.
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
