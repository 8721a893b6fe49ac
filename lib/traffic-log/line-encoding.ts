import {isoTimeBytes} from '../util/clock.js';
import type {BufferList} from './buffer-list.js';
import {encodeRecord, RecordWriter} from './records.js';

export type LineEncoding = {
	/** Appends a line: its time, and the rest of it in parts. */
	append(queued: BufferList, time: number, parts: readonly Buffer[]): void;
	/** Removes lines from the start and returns their final form, valid until the call after the next. */
	drain(queued: Buffer[]): readonly Buffer[];
};

const TIME_PREFIX = Buffer.from('{"time":"');

/** Buffers lines in their final form, which is cheap to create. */
export const textEncoding: LineEncoding = {
	append(queued, time, parts) {
		queued.add(TIME_PREFIX);
		queued.add(isoTimeBytes(time));
		for (const part of parts) queued.add(part);
	},
	drain: queued => queued.splice(0),
};

/**
 * Buffers lines as records and formats them when they are written, since lines are up to three times as long.
 * `onBlockWritten` is called with blocks that are no longer needed.
 */
export function recordEncoding(onBlockWritten?: (block: Buffer) => void): LineEncoding {
	// The lines of one writer are being written while the other one formats the next lines.
	let [writer, other] = [new RecordWriter(onBlockWritten), new RecordWriter(onBlockWritten)];
	return {
		append: (queued, time, parts) => queued.add(encodeRecord(time, {head: Buffer.concat(parts)})),
		drain(queued) {
			[writer, other] = [other, writer];
			return [writer.drain(queued)];
		},
	};
}
