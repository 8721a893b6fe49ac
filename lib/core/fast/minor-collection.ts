import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import {isOptimized} from '../../util/optimizations.js';

/** Garbage that triggers a minor collection. */
const COLLECT_BYTES = 2 ** 24;

const isEnabled = isOptimized('minor-collection');

type Collect = (options: {readonly type: 'minor'}) => void;

let collect: Collect | undefined;
let garbageBytes = 0;

/**
 * Counts memory that becomes garbage soon and makes V8 collect its young generation after every 16 MiB, which
 * takes half a millisecond.
 *
 * V8 itself waits until the young generation is full (96 MiB on Node 24), or runs a full collection for every
 * few megabytes of external memory, which takes far longer.
 */
export function countGarbage(bytes: number): void {
	if (!isEnabled) return;
	garbageBytes += bytes;
	if (garbageBytes < COLLECT_BYTES) return;
	garbageBytes = 0;
	collect ??= exposeGc();
	collect({type: 'minor'});
}

/** Returns the `gc` function that Node provides with --expose-gc. */
function exposeGc(): Collect {
	setFlagsFromString('--expose-gc');
	const gc = runInNewContext('globalThis.gc') as Collect | undefined;
	setFlagsFromString('--no-expose-gc');
	return gc ?? (() => {});
}
