import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';

/** After this much garbage a small collection is due. */
const COLLECT_BYTES = 2 ** 24;

type Collect = (options: {readonly type: 'minor'}) => void;

let collect: Collect | undefined;
let garbageBytes = 0;

/**
 * Counts memory that is garbage soon, and has V8 collect its young generation after every 16 MiB of it. That takes half a
 * millisecond. V8 itself waits until that generation is full, which is 96 MiB on Node 24, or makes a full collection for every few
 * megabytes outside of its heap, which takes far longer.
 */
export function countGarbage(amount: number): void {
	garbageBytes += amount;
	if (garbageBytes < COLLECT_BYTES) return;
	garbageBytes = 0;
	collect ??= exposeGc();
	collect({type: 'minor'});
}

/** What a program has as `gc` if Node is started with --expose-gc. */
function exposeGc(): Collect {
	setFlagsFromString('--expose-gc');
	const gc = runInNewContext('globalThis.gc') as Collect | undefined;
	setFlagsFromString('--no-expose-gc');
	return gc ?? (() => {});
}
