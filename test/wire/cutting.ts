import type {MessageSplitter, SplitterSink} from '../../lib/wire/line-splitter.js';
import {describeOversized} from '../../lib/wire/oversized.js';

/** The output of a splitter. */
export type Cutting = {
	/** The messages, each with its line feed. */
	readonly lines: string[];
	/** The first and the last bytes of each message over the limit. */
	readonly tooLarge: ReadonlyArray<readonly [start: string, end: string]>;
	/** The ids found in these messages. */
	readonly ids: ReadonlyArray<string | undefined>;
	/** The messages in order; undefined for a message over the limit. */
	readonly all: ReadonlyArray<string | undefined>;
};

/** Splits bytes at these positions. */
export const piecesOf = (bytes: Buffer, cuts: readonly number[]): Buffer[] =>
	[0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index] ?? bytes.length));

/** Splits bytes into single bytes. */
export const bytesOf = (bytes: Buffer): Buffer[] => [...bytes].map(byte => Buffer.of(byte));

/** Runs chunks through a splitter. Lines are read only at the end, like by a slow receiver. */
export function cut(
	make: (cuts: SplitterSink) => MessageSplitter,
	pieces: readonly (Buffer | string)[],
): Cutting {
	const all: Array<Buffer | readonly [Buffer, Buffer]> = [];
	const splitter = make({
		message: line => all.push(line),
		parts: line => all.push(Buffer.concat(line)),
		tooLarge: (start, end) => all.push([start, end]),
	});
	// Each chunk is a copy, since a splitter may modify its chunks.
	for (const piece of pieces) splitter.push(Buffer.from(piece));
	splitter.end();
	const oversized = all.filter(entry => !Buffer.isBuffer(entry)) as Array<readonly [Buffer, Buffer]>;
	return {
		lines: all.filter(entry => Buffer.isBuffer(entry)).map(String),
		tooLarge: oversized.map(([start, end]) => [String(start), String(end)]),
		ids: oversized.map(([start, end]) => describeOversized(start, end).id),
		all: all.map(entry => (Buffer.isBuffer(entry) ? String(entry) : undefined)),
	};
}
