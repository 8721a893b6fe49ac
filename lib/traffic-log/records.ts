import {isoTimeBytes} from '../util/clock.js';
import {MAX_ENCODED_BYTES, PercentWriter} from './percent-writer.js';

/*
 * A line that is yet to be written out is a record: its time, the length of each of its three parts, and the parts. Head and
 * tail stand in the line as they are, from the quote that ends the time to the line feed; between them is data as it passed.
 */
const TIME_OFFSET = 0;
const HEAD_LENGTH_OFFSET = 8;
const DATA_LENGTH_OFFSET = 12;
const TAIL_LENGTH_OFFSET = 16;
const PARTS_OFFSET = 20;

const EMPTY = Buffer.alloc(0);

/** A line, before it is one. */
export type TrafficLine = {
	readonly head: Buffer;
	/** Bytes that become the text of a JSON string. */
	readonly data?: Buffer;
	readonly tail?: Buffer;
};

/** How long the record of a line is. */
export const recordSize = ({head, data = EMPTY, tail = EMPTY}: TrafficLine): number =>
	PARTS_OFFSET + head.length + data.length + tail.length;

/** Writes the record of a line, and returns where it ends. */
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

/** The record of a line, alone. */
export function encodeRecord(time: number, line: TrafficLine): Buffer {
	const block = Buffer.allocUnsafe(recordSize(line));
	writeRecord(block, 0, time, line);
	return block;
}

/** Records beside each other that belong in the same file: how many, where, and the time of the first. */
type RecordRun = {
	readonly file: string;
	readonly lines: number;
	readonly time: number;
	readonly start: number;
	readonly end: number;
};

/** The records in a block, as far as they belong in the same file, which their time tells. */
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
/** What a line may be longer than the three parts of its record. */
const MAX_FRAMING_BYTES = TIME_PREFIX.length + isoTimeBytes(0).length;

/** Writes records out as lines, many at a time into memory that is used again for the next ones. */
export class RecordWriter {
	readonly #writer: PercentWriter;
	readonly #onBlockWritten: (block: Buffer) => void;

	/** `onDone` is told of each block, or of what was left of it, when all of it is written out. */
	constructor(onBlockWritten: (block: Buffer) => void = () => {}, size = 4 * 2 ** 20) {
		this.#writer = new PercentWriter(size);
		this.#onBlockWritten = onBlockWritten;
	}

	/** Takes records from the beginning of a list of blocks, and returns them as lines, which are good until the next call. */
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

	/** Whether the next line fits. For one that would never fit, room is made. */
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
