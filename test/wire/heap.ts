import {setImmediate} from 'node:timers/promises';
import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** How many bytes of buffers are held, with perhaps some that nobody holds any more. */
export function heldBytes(): number {
	collect();
	return process.memoryUsage().arrayBuffers;
}

/** Whether no more than so many bytes are held beyond those before. V8 may free them only some turns later. */
export async function holdsLess(before: number, bytes: number): Promise<boolean> {
	for (let turn = 0; turn < 100; turn++) {
		if (heldBytes() - before < bytes) return true;
		await setImmediate();
	}
	return false;
}

/** How many bytes of objects and texts are held, less those that nothing holds any more. */
export function heldHeap(): number {
	collect();
	return process.memoryUsage().heapUsed;
}
