import {isoTimeBytes} from '../util/clock.js';
import type {BufferList} from './buffer-list.js';
import {encodeRecord, RecordWriter} from './records.js';

/** What lines are while they wait to be written. */
export type LineEncoding = {
	/** Has a line wait with others: its time, and the rest of it in parts. */
	append(waiting: BufferList, time: number, parts: readonly Buffer[]): void;
	/** Takes from the beginning of what waits, and returns it as it is to be written before it is asked for more twice. */
	drain(waiting: Buffer[]): readonly Buffer[];
};

const TIME_PREFIX = Buffer.from('{"time":"');

/** Lines that wait as what they will be: to make them costs little. */
export const textEncoding: LineEncoding = {
	append(waiting, time, parts) {
		waiting.add(TIME_PREFIX);
		waiting.add(isoTimeBytes(time));
		for (const part of parts) waiting.add(part);
	},
	drain: waiting => waiting.splice(0),
};

/**
 * Lines that wait as records, and are made of them when they are written: they are up to three times as long. `onDone` is told
 * of blocks that are no longer needed.
 */
export function recordEncoding(onBlockWritten?: (block: Buffer) => void): LineEncoding {
	// One has lines that are being written while the other makes the next ones.
	let [writer, other] = [new RecordWriter(onBlockWritten), new RecordWriter(onBlockWritten)];
	return {
		append: (waiting, time, parts) => waiting.add(encodeRecord(time, {head: Buffer.concat(parts)})),
		drain(waiting) {
			[writer, other] = [other, writer];
			return [writer.drain(waiting)];
		},
	};
}
