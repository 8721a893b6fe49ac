import {setTimeout as sleep} from 'node:timers/promises';
import type {Log} from '../../core/log.js';
import {findOrphans, sendSignal} from '../../util/process-tree.js';

const DELAY_MS = 500;
const GRACE_MS = 1000;
const POLL_MS = 20;

/**
 * Ends what a killed bridge left running: servers that ignore the end of their input. It waits a little, so as not to be
 * in the way of the first messages; the result makes sure that it was done.
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
	const sentence = 'A bridge that was killed had left these processes running; they are ended now.';
	log.warn('child.orphans', sentence, {pids: pids});
	for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
		for (const pid of findOrphans()) sendSignal(pid, signal);
		if (await haveExited()) return;
	}
}

/** Whether no orphan is left within the grace period. A killed process exists until the system schedules it. */
async function haveExited(): Promise<boolean> {
	for (const startedAt = performance.now(); performance.now() - startedAt < GRACE_MS; await sleep(POLL_MS))
		if (findOrphans().length === 0) return true;
	return false;
}
