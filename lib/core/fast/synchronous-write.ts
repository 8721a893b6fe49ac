import {writeSync} from 'node:fs';
import type {Writable} from 'node:stream';
import {isOptimized} from '../../util/optimizations.js';

/** The descriptor in Node's internal socket handle, which has no public API. */
type StreamWithHandle = {readonly _handle?: {readonly fd?: number} | null};

/** Writes bytes to a stream. Returns false when the caller should wait for `drain`. */
export type WriteBytes = (bytes: Buffer) => boolean;

/**
 * Returns a function that writes to a pipe synchronously and leaves the rest to the stream, which must be
 * writable.
 *
 * A stream's code path to the same system call costs more than the rest of the processing of a short message.
 * The descriptor is non-blocking, so the call writes what fits and returns.
 */
export function synchronousWriter(writable: Writable): WriteBytes {
	const fd = (writable as StreamWithHandle)._handle?.fd ?? -1;
	if (fd < 0 || !isOptimized('synchronous-write')) return bytes => writable.write(bytes);
	return bytes => {
		if (writable.writableLength > 0) return writable.write(bytes);
		const written = tryWrite(fd, bytes);
		return written === bytes.length || writable.write(bytes.subarray(written));
	};
}

/**
 * Returns the number of bytes written. On an error it returns 0: the stream then fails with the same error
 * and reports it.
 */
function tryWrite(fd: number, bytes: Buffer): number {
	try {
		return writeSync(fd, bytes);
	} catch {
		return 0;
	}
}
