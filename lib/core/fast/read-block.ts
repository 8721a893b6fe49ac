import {countGarbage} from './minor-collection.js';

/** The size of a block. Long messages are read into one block after the other. */
const BLOCK_BYTES = 2 ** 17;

/** Returns memory outside of V8's heap to read long messages into. */
export function allocateReadBlock(): Buffer {
	countGarbage(BLOCK_BYTES);
	return Buffer.allocUnsafeSlow(BLOCK_BYTES);
}
