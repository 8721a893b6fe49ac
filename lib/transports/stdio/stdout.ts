import {fstatSync} from 'node:fs';
import {nonBlockingOutput} from './own-fds.js';

/**
 * Returns a function that writes to stdout without blocking. Its promise resolves when the bytes are written,
 * and rejects when the reader has closed the pipe.
 */
export function openStdout(): (bytes: Uint8Array) => Promise<void> {
	const stream = nonBlockingOutput(1);
	// The callback of each write reports errors.
	stream.on('error', () => {});
	return bytes =>
		new Promise((resolve, reject) => {
			stream.write(bytes, error => (error ? reject(error) : resolve()));
		});
}

/** The device number of /dev/null on Linux. */
const NULL_DEVICE = 0x103;

export function isStdoutNull(): boolean {
	const stat = fstatSync(1);
	return stat.isCharacterDevice() && stat.rdev === NULL_DEVICE;
}
