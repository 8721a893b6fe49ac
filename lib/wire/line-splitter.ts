import {ChunkBuffer, EDGE_BYTES} from './chunk-buffer.js';
import {isWhitespaceUpTo} from './whitespace.js';

const LF = 0x0a;
const CR = 0x0d;

const BRACE = 0x7b;

/** A line of this length stays in the parts that it came in: to join them costs more than all else done with it. */
const MIN_PARTS_BYTES = 256 * 1024;

/** What some programs begin their output with. It belongs to no message. */
export const BOM = Buffer.from('\ufeff');

/** Where a cutter puts what it cuts. */
export type SplitterSink = {
	/** One message, as a line with its line feed. */
	message(line: Buffer): void;
	/** A long one, as the parts of that line. */
	parts(line: Buffer[]): void;
	/** A message over the limit, of which only the first and the last bytes were kept. */
	tooLarge(start: Buffer, end: Buffer): void;
};

/** Cuts a stream of bytes into messages. */
export type MessageSplitter = {
	push(chunk: Buffer): void;
	/** The stream is over: what is left of it is a message, too. */
	end(): void;
};

/**
 * One message a line. Each byte is searched once and copied at most once, and a line that came in one piece is not
 * copied at all. A carriage return before the line feed belongs to the line's end; lines of white space are no messages.
 */
export function lineSplitter(maxBytes: number, sink: SplitterSink): MessageSplitter {
	const pieces = new ChunkBuffer(maxBytes + '\r\n'.length);
	let isFirst = true;

	const emit = (line: Buffer): void => {
		if (isFirst) {
			isFirst = false;
			if (line.subarray(0, BOM.length).equals(BOM)) line = line.subarray(BOM.length);
		}
		let end = line.length - 1;
		if (line[end - 1] === CR) {
			line[--end] = LF;
			line = line.subarray(0, end + 1);
		}
		if (end > maxBytes)
			sink.tooLarge(Buffer.from(line.subarray(0, EDGE_BYTES)), Buffer.from(line.subarray(-EDGE_BYTES)));
		else if (!isWhitespaceUpTo(line, 0, end)) sink.message(line);
	};
	/** Whether it is long, and there is nothing to be done about its first and last bytes. */
	const staysInParts = (): boolean => {
		if (isFirst || pieces.size < MIN_PARTS_BYTES || pieces.size > maxBytes) return false;
		const parts = pieces.parts();
		const last = parts.at(-1);
		const beforeLast = last?.at(-2) ?? parts.at(-2)?.at(-1);
		return parts[0]?.[0] === BRACE && beforeLast !== CR;
	};
	const finish = (last: Buffer): void => {
		pieces.add(last);
		if (pieces.isTooLarge) sink.tooLarge(pieces.start, pieces.end);
		else if (staysInParts()) sink.parts(pieces.parts());
		else emit(pieces.joined());
		pieces.clear();
	};
	return {
		push(chunk) {
			for (let start = 0; start < chunk.length; ) {
				const end = chunk.indexOf(LF, start) + 1;
				// One line a chunk is the common case, and to cut it out costs more than to find its end.
				const isWhole = start === 0 && (end === chunk.length || end === 0);
				const part = isWhole ? chunk : chunk.subarray(start, end || chunk.length);
				if (end === 0) pieces.add(part);
				else if (pieces.isEmpty) emit(part);
				else finish(part);
				start += part.length;
			}
		},
		end() {
			if (!pieces.isEmpty) finish(Buffer.from('\n'));
		},
	};
}
