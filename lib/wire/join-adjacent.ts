/** Two pieces of memory as one, where the second begins at the end of the first. Nothing is copied. */
export const joinAdjacent = (first: Buffer, second: Buffer): Buffer | undefined =>
	first.buffer === second.buffer && first.byteOffset + first.length === second.byteOffset
		? Buffer.from(first.buffer, first.byteOffset, first.length + second.length)
		: undefined;
