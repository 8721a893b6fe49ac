import {performance} from 'node:perf_hooks';
import {setTimeout as sleep} from 'node:timers/promises';
import {type Process, younger} from './process-tree.js';

/** Reading the list of processes blocks the event loop. For each millisecond of it, this many milliseconds are kept free. */
const REST = 10;

let next: Promise<Process[]> | undefined;
let restsUntil = 0;

/**
 * The processes that this one may have started, read after the call. One read serves all callers that wait: many children
 * that exit at once, as in a storm of sessions, take no more of the event loop than a few.
 */
export function lookAround(): Promise<Process[]> {
	next ??= readSoon();
	return next;
}

async function readSoon(): Promise<Process[]> {
	await sleep(Math.max(0, restsUntil - performance.now()));
	next = undefined;
	const started = performance.now();
	const found = younger();
	const ended = performance.now();
	restsUntil = ended + REST * (ended - started);
	return found;
}
