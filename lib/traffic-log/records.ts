import {isoTimeBytes} from '../util/clock.js';
import {MAX_ENCODED_BYTES, PercentWriter} from './percent-writer.js';

// A record is a line that is not formatted yet: its time, the lengths of its three parts, and the parts. Head
// and tail are copied unchanged, from the quote after the time to the line feed. The data is escaped.
const TIME_OFFSET = 0;
const HEAD_LENGTH_OFFSET = 8;
const DATA_LENGTH_OFFSET = 12;
const TAIL_LENGTH_OFFSET = 16;
const PARTS_OFFSET = 20;

const EMPTY = Buffer.alloc(0);

export type TrafficLine = {
	readonly head: Buffer;
	/** Bytes that become the text of a JSON string. */
	readonly data?: Buffer;
	readonly tail?: Buffer;
};

export const recordSize = ({head, data = EMPTY, tail = EMPTY}: TrafficLine): number =>
	PARTS_OFFSET + head.length + data.length + tail.length;

/** Writes the record of a line. Returns its end. */
export function writeRecord(block: Buffer, at: number, time: number, line: TrafficLine): number {
	const {head, data = EMPTY, tail = EMPTY} = line;
	block.writeDoubleLE(time, at + TIME_OFFSET);
	block.writeUInt32LE(head.length, at + HEAD_LENGTH_OFFSET);
	block.writeUInt32LE(data.length, at + DATA_LENGTH_OFFSET);
	block.writeUInt32LE(tail.length, at + TAIL_LENGTH_OFFSET);
	let end = at + PARTS_OFFSET;
	end += head.copy(block, end);
	end += data.copy(block, end);
	end += tail.copy(block, end);
	return end;
}

export function encodeRecord(time: number, line: TrafficLine): Buffer {
	const block = Buffer.allocUnsafe(recordSize(line));
	writeRecord(block, 0, time, line);
	return block;
}

/** Adjacent records for the same file: their number, their range, and the time of the first one. */
type RecordRun = {
	readonly file: string;
	readonly lines: number;
	readonly time: number;
	readonly start: number;
	readonly end: number;
};

/** Splits a block into runs of records for the same file. The time of a record determines its file. */
export function* splitByFile(block: Buffer, fileAt: (time: number) => string): Generator<RecordRun> {
	let run: RecordRun = {file: '', lines: 0, time: 0, start: 0, end: 0};
	while (run.end < block.length) {
		const start = run.end;
		const time = block.readDoubleLE(start + TIME_OFFSET);
		const file = fileAt(time);
		const end = recordEnd(block, start);
		if (file === run.file && run.lines > 0) {
			run = {...run, lines: run.lines + 1, end};
			continue;
		}
		if (run.lines > 0) yield run;
		run = {file, lines: 1, time, start, end};
	}
	if (run.lines > 0) yield run;
}

const recordEnd = (block: Buffer, at: number): number =>
	at +
	PARTS_OFFSET +
	block.readUInt32LE(at + HEAD_LENGTH_OFFSET) +
	block.readUInt32LE(at + DATA_LENGTH_OFFSET) +
	block.readUInt32LE(at + TAIL_LENGTH_OFFSET);

const TIME_PREFIX = Buffer.from('{"time":"');
/** Maximum length of a line beyond the three parts of its record. */
const MAX_FRAMING_BYTES = TIME_PREFIX.length + isoTimeBytes(0).length;

/** Formats records as lines, many at a time, in reused memory. */
export class RecordWriter {
	readonly #writer: PercentWriter;
	readonly #onBlockWritten: (block: Buffer) => void;

	/** `onBlockWritten` is called with each block, or with the rest of it, once all of it is formatted. */
	constructor(onBlockWritten: (block: Buffer) => void = () => {}, size = 4 * 2 ** 20) {
		this.#writer = new PercentWriter(size);
		this.#onBlockWritten = onBlockWritten;
	}

	/**
	 * Removes records from the start of a list of blocks and returns them as lines. The result is valid until
	 * the next call.
	 */
	drain(blocks: Buffer[]): Buffer {
		let end = 0;
		for (let block = blocks.shift(); block; block = blocks.shift()) {
			let at = 0;
			while (at < block.length && this.#fits(block, at, end)) {
				end = this.#write(block, at, end);
				at = recordEnd(block, at);
			}
			if (at < block.length) {
				blocks.unshift(block.subarray(at));
				break;
			}
			this.#onBlockWritten(block);
		}
		return this.#writer.output.subarray(0, end);
	}

	/** Whether the next line fits. The output grows for a line that would never fit. */
	#fits(block: Buffer, at: number, end: number): boolean {
		const plain = block.readUInt32LE(at + HEAD_LENGTH_OFFSET) + block.readUInt32LE(at + TAIL_LENGTH_OFFSET);
		const needed =
			MAX_FRAMING_BYTES + plain + MAX_ENCODED_BYTES * block.readUInt32LE(at + DATA_LENGTH_OFFSET);
		if (end + needed <= this.#writer.output.length) return true;
		if (end > 0) return false;
		this.#writer.reserve(needed);
		return true;
	}

	#write(block: Buffer, at: number, from: number): number {
		const {output} = this.#writer;
		const data = at + PARTS_OFFSET + block.readUInt32LE(at + HEAD_LENGTH_OFFSET);
		const tail = data + block.readUInt32LE(at + DATA_LENGTH_OFFSET);
		let end = from;
		end += TIME_PREFIX.copy(output, end);
		end += isoTimeBytes(block.readDoubleLE(at + TIME_OFFSET)).copy(output, end);
		end += block.copy(output, end, at + PARTS_OFFSET, data);
		end = this.#writer.write(block.subarray(data, tail), end);
		end += block.copy(output, end, tail, tail + block.readUInt32LE(at + TAIL_LENGTH_OFFSET));
		return end;
	}
}
