import {ChunkBuffer, EDGE_BYTES} from './chunk-buffer.js';
import {isWhitespaceUpTo} from './whitespace.js';

const LF = 0x0a;
const CR = 0x0d;

const BRACE = 0x7b;

/** Longer lines stay in parts, since joining them costs more than the rest of the processing. */
const MIN_PARTS_BYTES = 256 * 1024;

/** The UTF-8 byte order mark that some programs start their output with. It is not part of a message. */
export const BOM = Buffer.from('\ufeff');

export type SplitterSink = {
	/** A message, as a line including its line feed. */
	message(line: Buffer): void;
	/** A long message, as the parts of its line. */
	parts(line: Buffer[]): void;
	/** A message over the limit: its first and last bytes. */
	tooLarge(start: Buffer, end: Buffer): void;
};

export type MessageSplitter = {
	push(chunk: Buffer): void;
	/** Ends the stream. The remaining bytes are a message, too. */
	end(): void;
};

/**
 * Splits a stream into one message per line. Each byte is searched once and copied at most once; a line that
 * is received in one chunk is not copied. A carriage return before the line feed is removed. Lines of white
 * space are skipped.
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
	/** Whether a line is long and needs no change at either end. */
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
				// One line per chunk is the common case, and slicing it would cost more than finding its end.
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
