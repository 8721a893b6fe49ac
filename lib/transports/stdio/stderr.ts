import process from 'node:process';
import type {Writable} from 'node:stream';
import {setTimeout as sleep} from 'node:timers/promises';
import {nonBlockingOutput, whenFlushed} from './own-fds.js';

/** How long to wait for the reader of stderr. */
const DRAIN_TIMEOUT_MS = 1000;

/** The limit of unwritten bytes. Beyond it, text is dropped. */
const MAX_BUFFERED_BYTES = 1 << 20;

export type StderrWriter = {
	readonly isTerminal: boolean;
	write(text: string | Uint8Array): void;
	/** Resolves when the buffer is drained or the reader is stuck; undefined if it has space now. */
	whenWritable(): Promise<void> | undefined;
	/** Ends the stream. Resolves when all text is written, or after a timeout. */
	close(): Promise<void>;
};

/**
 * Opens the stderr of this process for writes that do not block, since a client that does not read stderr
 * must not stop the traffic. Text over the limit is dropped. The number of dropped bytes is written once the
 * stream drains.
 */
export function openStderr(stream: Writable = nonBlockingOutput(2)): StderrWriter {
	let droppedBytes = 0;
	/** Whether a wait for the reader has timed out. There are no more waits until the stream drains. */
	let isStuck = false;
	const report = (): void => {
		isStuck = false;
		if (droppedBytes === 0) return;
		stream.write(`\n[bridge] stderr was not read in time: ${droppedBytes} bytes were dropped here\n`);
		droppedBytes = 0;
	};
	// Without a reader there is nowhere to report errors.
	stream.on('drain', report).on('error', () => {});
	return {
		isTerminal: process.stderr.isTTY === true,
		write(text) {
			if (!stream.writable) return;
			if (stream.writableLength > MAX_BUFFERED_BYTES) droppedBytes += Buffer.byteLength(text);
			else stream.write(text);
		},
		whenWritable() {
			if (isStuck || stream.writableLength < MAX_BUFFERED_BYTES / 2) return;
			const drained = new Promise<void>(resolve => stream.once('drain', resolve));
			const timedOut = sleep(DRAIN_TIMEOUT_MS, undefined, {ref: false}).then(() => {
				isStuck = true;
			});
			return Promise.race([drained, timedOut]);
		},
		async close() {
			report();
			await Promise.race([whenFlushed(stream), sleep(DRAIN_TIMEOUT_MS, undefined, {ref: false})]);
		},
	};
}
