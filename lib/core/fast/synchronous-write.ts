import {writeSync} from 'node:fs';
import type {Writable} from 'node:stream';

/** What is known of a socket of Node's, which says nowhere else which descriptor it has. */
type StreamWithHandle = {readonly _handle?: {readonly fd?: number} | null};

/** Writes bytes to a stream. Returns whether that would take more. */
export type WriteBytes = (bytes: Buffer) => boolean;

/**
 * Writes to a pipe what it takes at once, and leaves the rest to its stream, which must be writable.
 *
 * A stream's own way to the same system call is longer than all that bridge does with a short message. The descriptor of a
 * socket does not block, so the call takes what there is room for and comes back.
 */
export function synchronousWriter(writable: Writable): WriteBytes {
	const fd = (writable as StreamWithHandle)._handle?.fd ?? -1;
	if (fd < 0) return bytes => writable.write(bytes);
	return bytes => {
		if (writable.writableLength > 0) return writable.write(bytes);
		const written = tryWrite(fd, bytes);
		return written === bytes.length || writable.write(bytes.subarray(written));
	};
}

/** Returns how much was written. Why it was nothing, the stream finds out in its turn, and tells whoever listens to it. */
function tryWrite(fd: number, bytes: Buffer): number {
	try {
		return writeSync(fd, bytes);
	} catch {
		return 0;
	}
}
