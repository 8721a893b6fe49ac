import process from 'node:process';
import type {Writable} from 'node:stream';
import {setTimeout as sleep} from 'node:timers/promises';
import {nonBlockingOutput, whenFlushed} from './own-fds.js';

/** How long a reader of stderr is waited for at the end. */
const DRAIN_TIMEOUT_MS = 1000;

/** How much may wait for a reader of stderr that is slow or gone. */
const MAX_BUFFERED_BYTES = 1 << 20;

/** This process's stderr, which never holds anything up. */
export type StderrWriter = {
	readonly isTerminal: boolean;
	write(text: string | Uint8Array): void;
	/** Resolves when there is room again, or nobody makes any; undefined while there is room. */
	whenWritable(): Promise<void> | undefined;
	/** Resolves when all is written, or nobody takes it any more. Nothing can be written after it. */
	close(): Promise<void>;
};

/**
 * Writes without blocking, whoever does not read: a client that never looks at stderr must not bring traffic to a halt.
 * What does not fit is left out, and how much that was is written as soon as there is room.
 */
export function openStderr(stream: Writable = nonBlockingOutput(2)): StderrWriter {
	let droppedBytes = 0;
	/** Whether nobody has read for a while: then it is not waited for any more, until somebody does. */
	let isStuck = false;
	const report = (): void => {
		isStuck = false;
		if (droppedBytes === 0) return;
		stream.write(`\n[bridge] stderr was not read in time: ${droppedBytes} bytes were left out here\n`);
		droppedBytes = 0;
	};
	// Without a reader there is nobody to tell.
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
