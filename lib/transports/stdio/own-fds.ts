import {createWriteStream, fstatSync} from 'node:fs';
import {Socket} from 'node:net';
import process from 'node:process';
import type {Readable, Writable} from 'node:stream';
import {openReusingSocket} from '../../core/fast/reused-read-buffer.js';

/**
 * Returns a stream to stdout or stderr that does not block and can be ended.
 *
 * Node's own streams cannot be ended and write to files synchronously: a large response would block all
 * conversations. They are used only for terminals, and for stderr to a file, so that no line is lost.
 */
export function nonBlockingOutput(fd: 1 | 2): Writable {
	const stat = fstatSync(fd);
	if (stat.isFIFO() || stat.isSocket()) return new Socket({fd, readable: false, writable: true});
	if (stat.isFile() && fd === 1) return createWriteStream('', {fd, autoClose: false});
	return fd === 1 ? process.stdout : process.stderr;
}

export function openStdin(): Readable {
	const stat = fstatSync(0);
	return stat.isFIFO() || stat.isSocket() ? openReusingSocket(0) : process.stdin;
}

/** Ends a stream. Resolves when all data is written or the stream is closed. */
export function whenFlushed(stream: Writable): Promise<void> {
	return new Promise(resolve => {
		const done = (): void => resolve();
		if (stream.writableLength === 0 || stream.destroyed) done();
		else stream.once('close', done).once('error', done).end(done);
	});
}
