import {stamp} from './clock.js';
import {MAX_GROWTH, PercentWriter} from './percent-writer.js';

/*
 * A line that is yet to be written out is a record: its time, the length of each of its three parts, and the parts. Head and
 * tail stand in the line as they are, from the quote that ends the time to the line feed; between them is data as it passed.
 */
const TIME = 0;
const HEAD = 8;
const DATA = 12;
const TAIL = 16;
const PARTS = 20;

const none = Buffer.alloc(0);

/** A line, before it is one. */
export type Line = {
	readonly head: Buffer;
	/** Bytes that become the text of a JSON string. */
	readonly data?: Buffer;
	readonly tail?: Buffer;
};

/** How long the record of a line is. */
export const recordSize = ({head, data = none, tail = none}: Line): number =>
	PARTS + head.length + data.length + tail.length;

/** Writes the record of a line, and returns where it ends. */
export function writeRecord(block: Buffer, at: number, time: number, line: Line): number {
	const {head, data = none, tail = none} = line;
	block.writeDoubleLE(time, at + TIME);
	block.writeUInt32LE(head.length, at + HEAD);
	block.writeUInt32LE(data.length, at + DATA);
	block.writeUInt32LE(tail.length, at + TAIL);
	let end = at + PARTS;
	end += head.copy(block, end);
	end += data.copy(block, end);
	end += tail.copy(block, end);
	return end;
}

/** The record of a line, alone. */
export function recordOf(time: number, line: Line): Buffer {
	const block = Buffer.allocUnsafe(recordSize(line));
	writeRecord(block, 0, time, line);
	return block;
}

/** Records beside each other that belong in the same file: how many, where, and the time of the first. */
export type Run = {
	readonly file: string;
	readonly lines: number;
	readonly time: number;
	readonly start: number;
	readonly end: number;
};

/** The records in a block, as far as they belong in the same file, which their time tells. */
export function* runsIn(block: Buffer, fileAt: (time: number) => string): Generator<Run> {
	let run: Run = {file: '', lines: 0, time: 0, start: 0, end: 0};
	while (run.end < block.length) {
		const start = run.end;
		const time = block.readDoubleLE(start + TIME);
		const file = fileAt(time);
		const end = endOf(block, start);
		if (file === run.file && run.lines > 0) {
			run = {...run, lines: run.lines + 1, end};
			continue;
		}
		if (run.lines > 0) yield run;
		run = {file, lines: 1, time, start, end};
	}
	if (run.lines > 0) yield run;
}

const endOf = (block: Buffer, at: number): number =>
	at + PARTS + block.readUInt32LE(at + HEAD) + block.readUInt32LE(at + DATA) + block.readUInt32LE(at + TAIL);

const OPENING = Buffer.from('{"time":"');
/** What a line may be longer than the three parts of its record. */
const MARGIN = OPENING.length + stamp(0).length;

/** Writes records out as lines, many at a time into memory that is used again for the next ones. */
export class RecordWriter {
	readonly #writer: PercentWriter;
	readonly #onDone: (block: Buffer) => void;

	/** `onDone` is told of each block, or of what was left of it, when all of it is written out. */
	constructor(onDone: (block: Buffer) => void = () => {}, size = 4 * 2 ** 20) {
		this.#writer = new PercentWriter(size);
		this.#onDone = onDone;
	}

	/** Takes records from the beginning of a list of blocks, and returns them as lines, which are good until the next call. */
	take(blocks: Buffer[]): Buffer {
		let end = 0;
		for (let block = blocks.shift(); block; block = blocks.shift()) {
			let at = 0;
			while (at < block.length && this.#hasRoom(block, at, end)) {
				end = this.#write(block, at, end);
				at = endOf(block, at);
			}
			if (at < block.length) {
				blocks.unshift(block.subarray(at));
				break;
			}
			this.#onDone(block);
		}
		return this.#writer.output.subarray(0, end);
	}

	/** Whether the next line fits. For one that would never fit, room is made. */
	#hasRoom(block: Buffer, at: number, end: number): boolean {
		const plain = block.readUInt32LE(at + HEAD) + block.readUInt32LE(at + TAIL);
		const needed = MARGIN + plain + MAX_GROWTH * block.readUInt32LE(at + DATA);
		if (end + needed <= this.#writer.output.length) return true;
		if (end > 0) return false;
		this.#writer.reserve(needed);
		return true;
	}

	#write(block: Buffer, at: number, from: number): number {
		const {output} = this.#writer;
		const data = at + PARTS + block.readUInt32LE(at + HEAD);
		const tail = data + block.readUInt32LE(at + DATA);
		let end = from;
		end += OPENING.copy(output, end);
		end += stamp(block.readDoubleLE(at + TIME)).copy(output, end);
		end += block.copy(output, end, at + PARTS, data);
		end = this.#writer.write(block.subarray(data, tail), end);
		end += block.copy(output, end, tail, tail + block.readUInt32LE(at + TAIL));
		return end;
	}
}
