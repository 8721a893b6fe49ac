import {countGarbage} from './minor-collection.js';

/** How much long messages are read into at a time, one behind the other. */
const BLOCK_BYTES = 2 ** 17;

/** Memory to read long messages into. It is outside of V8's heap. */
export function allocateReadBlock(): Buffer {
	countGarbage(BLOCK_BYTES);
	return Buffer.allocUnsafeSlow(BLOCK_BYTES);
}
