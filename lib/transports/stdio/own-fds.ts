import {createWriteStream, fstatSync} from 'node:fs';
import {Socket} from 'node:net';
import process from 'node:process';
import type {Readable, Writable} from 'node:stream';
import {openReusingSocket} from '../../core/fast/reused-read-buffer.js';

/**
 * A stream to this process's stdout or stderr that does not block, and can be ended.
 *
 * Node's own cannot be ended, and a large answer to a file would be written synchronously, with every other conversation
 * waiting for the disk. Terminals stay Node's, and so do files for stderr, where no line is to be lost.
 */
export function nonBlockingOutput(fd: 1 | 2): Writable {
	const stat = fstatSync(fd);
	if (stat.isFIFO() || stat.isSocket()) return new Socket({fd, readable: false, writable: true});
	if (stat.isFile() && fd === 1) return createWriteStream('', {fd, autoClose: false});
	return fd === 1 ? process.stdout : process.stderr;
}

/** This process's stdin. */
export function openStdin(): Readable {
	const stat = fstatSync(0);
	return stat.isFIFO() || stat.isSocket() ? openReusingSocket(0) : process.stdin;
}

/** Resolves when all is written, or its reader is gone. */
export function whenFlushed(stream: Writable): Promise<void> {
	return new Promise(resolve => {
		const done = (): void => resolve();
		if (stream.writableLength === 0 || stream.destroyed) done();
		else stream.once('close', done).once('error', done).end(done);
	});
}
