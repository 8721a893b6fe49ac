import type {MessageSplitter, SplitterSink} from '../../lib/wire/line-splitter.js';
import {describeOversized} from '../../lib/wire/oversized.js';

/** What a cutter made of a stream. */
export type Cutting = {
	/** Its messages, each as a text with its line feed. */
	readonly lines: string[];
	/** The first and the last bytes of each message over the limit. */
	readonly tooLarge: ReadonlyArray<readonly [start: string, end: string]>;
	/** The ids found in those. */
	readonly ids: ReadonlyArray<string | undefined>;
	/** All of it in the order it came in; a message over the limit is undefined. */
	readonly all: ReadonlyArray<string | undefined>;
};

/** The parts of something, cut at these places. */
export const piecesOf = (bytes: Buffer, cuts: readonly number[]): Buffer[] =>
	[0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index] ?? bytes.length));

/** Single bytes. */
export const bytesOf = (bytes: Buffer): Buffer[] => [...bytes].map(byte => Buffer.of(byte));

/** Runs pieces through a cutter. Lines are read only at the very end, as a slow receiver does. */
export function cut(
	make: (cuts: SplitterSink) => MessageSplitter,
	pieces: readonly (Buffer | string)[],
): Cutting {
	const all: Array<Buffer | readonly [Buffer, Buffer]> = [];
	const cutter = make({
		message: line => all.push(line),
		parts: line => all.push(Buffer.concat(line)),
		tooLarge: (start, end) => all.push([start, end]),
	});
	// Each piece in memory of its own, since a cutter may write into what it is given.
	for (const piece of pieces) cutter.push(Buffer.from(piece));
	cutter.end();
	const oversized = all.filter(entry => !Buffer.isBuffer(entry)) as Array<readonly [Buffer, Buffer]>;
	return {
		lines: all.filter(entry => Buffer.isBuffer(entry)).map(String),
		tooLarge: oversized.map(([start, end]) => [String(start), String(end)]),
		ids: oversized.map(([start, end]) => describeOversized(start, end).id),
		all: all.map(entry => (Buffer.isBuffer(entry) ? String(entry) : undefined)),
	};
}
