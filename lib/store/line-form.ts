import type {Buffers} from './buffers.js';
import {stamp} from './clock.js';
import {RecordWriter, recordOf} from './records.js';

/** What lines are while they wait to be written. */
export type LineForm = {
	/** Has a line wait with others: its time, and the rest of it in parts. */
	put(waiting: Buffers, time: number, parts: readonly Buffer[]): void;
	/** Takes from the beginning of what waits, and returns it as it is to be written before it is asked for more twice. */
	take(waiting: Buffer[]): readonly Buffer[];
};

const OPENING = Buffer.from('{"time":"');

/** Lines that wait as what they will be: to make them costs little. */
export const written: LineForm = {
	put(waiting, time, parts) {
		waiting.add(OPENING);
		waiting.add(stamp(time));
		for (const part of parts) waiting.add(part);
	},
	take: waiting => waiting.splice(0),
};

/**
 * Lines that wait as records, and are made of them when they are written: they are up to three times as long. `onDone` is told
 * of blocks that are no longer needed.
 */
export function asRecords(onDone?: (block: Buffer) => void): LineForm {
	// One has lines that are being written while the other makes the next ones.
	let [writer, other] = [new RecordWriter(onDone), new RecordWriter(onDone)];
	return {
		put: (waiting, time, parts) => waiting.add(recordOf(time, {head: Buffer.concat(parts)})),
		take(waiting) {
			[writer, other] = [other, writer];
			return [writer.take(waiting)];
		},
	};
}
