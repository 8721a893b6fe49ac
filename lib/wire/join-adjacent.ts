/** Joins two buffers without copying if the second one starts where the first one ends. */
export const joinAdjacent = (first: Buffer, second: Buffer): Buffer | undefined =>
	first.buffer === second.buffer && first.byteOffset + first.length === second.byteOffset
		? Buffer.from(first.buffer, first.byteOffset, first.length + second.length)
		: undefined;
