import {fstatSync} from 'node:fs';
import {nonBlockingOutput} from './own-fds.js';

/** Writes to this process's stdout without blocking. Resolves when it is taken, rejects when nobody reads any more. */
export function openStdout(): (bytes: Uint8Array) => Promise<void> {
	const stream = nonBlockingOutput(1);
	// Who writes is told.
	stream.on('error', () => {});
	return bytes =>
		new Promise((resolve, reject) => {
			stream.write(bytes, error => (error ? reject(error) : resolve()));
		});
}

/** The number of the device that keeps nothing, on Linux. */
const NULL_DEVICE = 0x103;

/** Whether what is written to stdout is seen by nobody. */
export function isStdoutNull(): boolean {
	const stat = fstatSync(1);
	return stat.isCharacterDevice() && stat.rdev === NULL_DEVICE;
}
