import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';

/** How much long messages are read into at a time, one behind the other. */
const BLOCK_BYTES = 2 ** 17;
/** After so much of it a small garbage collection is due. */
const COLLECT_BYTES = 2 ** 24;

type Collect = (options: {readonly type: 'minor'}) => void;

let collect: Collect | undefined;
let bytes = 0;

/**
 * Memory to read long messages into.
 *
 * It is outside of V8's heap, and V8 counts it towards the next full garbage collection: with a heap as small as this one's
 * there would be one for every few megabytes, which takes more time, in threads of its own, than all else that is done with
 * them. A small collection in time, which takes half a millisecond, frees the same blocks.
 */
export function readBlock(): Buffer {
	bytes += BLOCK_BYTES;
	if (bytes >= COLLECT_BYTES) {
		bytes = 0;
		collect ??= collector();
		collect({type: 'minor'});
	}
	return Buffer.allocUnsafeSlow(BLOCK_BYTES);
}

/** What a program has as `gc` if Node is started with --expose-gc. */
function collector(): Collect {
	setFlagsFromString('--expose-gc');
	const gc = runInNewContext('globalThis.gc') as Collect | undefined;
	setFlagsFromString('--no-expose-gc');
	return gc ?? (() => {});
}
