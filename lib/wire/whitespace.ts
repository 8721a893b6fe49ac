const isWhitespace = new Uint8Array(256);
for (const space of Buffer.from(' \t\r\n')) isWhitespace[space] = 1;

/** Returns the first position from `at` on that is not white space. */
export function skipWhitespace(bytes: Buffer, at: number, end = bytes.length): number {
	while (at < end && isWhitespace[bytes[at] as number] === 1) at++;
	return at;
}

export const isWhitespaceUpTo = (bytes: Buffer, at: number, end: number): boolean =>
	skipWhitespace(bytes, at, end) === end;
