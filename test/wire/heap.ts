import {setImmediate} from 'node:timers/promises';
import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Returns the size of all buffers after a garbage collection. May include some unreachable ones. */
export function heldBytes(): number {
	collect();
	return process.memoryUsage().arrayBuffers;
}

/**
 * Whether the size of buffers grows by less than `bytes`. V8 may free buffers only some event loop iterations
 * later.
 */
export async function holdsLess(before: number, bytes: number): Promise<boolean> {
	for (let round = 0; round < 100; round++) {
		if (heldBytes() - before < bytes) return true;
		await setImmediate();
	}
	return false;
}

/** Returns the size of reachable objects and strings. */
export function heldHeap(): number {
	collect();
	return process.memoryUsage().heapUsed;
}
