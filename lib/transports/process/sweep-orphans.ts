import {setTimeout as sleep} from 'node:timers/promises';
import type {Log} from '../../core/log.js';
import {findOrphans, sendSignal} from '../../util/process-tree.js';

const DELAY_MS = 500;
const GRACE_MS = 1000;
const POLL_MS = 20;

/**
 * Terminates children that a killed bridge left running: servers that ignore the end of their input.
 *
 * The sweep is delayed so that it does not slow down the first messages. The returned function runs it now,
 * unless it has run already.
 */
export function sweepOrphans(log: Log): () => Promise<void> {
	let done: Promise<void> | undefined;
	const start = (): Promise<void> => {
		done ??= endOrphans(log);
		return done;
	};
	const timer = setTimeout(start, DELAY_MS).unref();
	return () => {
		clearTimeout(timer);
		return start();
	};
}

async function endOrphans(log: Log): Promise<void> {
	const pids = findOrphans();
	if (pids.length === 0) return;
	const text = 'A killed bridge left these processes running; they are being terminated.';
	log.warn('child.orphans', text, {pids});
	for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
		for (const pid of findOrphans()) sendSignal(pid, signal);
		if (await haveExited()) return;
	}
}

/**
 * Resolves to whether all orphans exit in the grace period. A killed process exists until it is scheduled.
 */
async function haveExited(): Promise<boolean> {
	for (const startedAt = performance.now(); performance.now() - startedAt < GRACE_MS; await sleep(POLL_MS))
		if (findOrphans().length === 0) return true;
	return false;
}
