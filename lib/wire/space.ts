const isSpace = new Uint8Array(256);
for (const space of Buffer.from(' \t\r\n')) isSpace[space] = 1;

/** The first position from `at` on that holds no white space. */
export function skipSpace(bytes: Buffer, at: number, end = bytes.length): number {
	while (at < end && isSpace[bytes[at] as number] === 1) at++;
	return at;
}

/** Whether nothing but white space follows. */
export const isSpaceUpTo = (bytes: Buffer, at: number, end: number): boolean =>
	skipSpace(bytes, at, end) === end;
